"""The stylesheet and other files that pages load. Their names have the hash of their content, so browsers keep
them for good.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from wmsd.interfaces.http.web import web

FOLDER: Final = Path(__file__).parent / "static"
ADDRESS: Final = "/pages/"
FOR_GOOD: Final = "public, max-age=31536000, immutable"
TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def _files() -> dict[str, Path]:
    """By the name that a page loads them by."""
    return {f"{path.stem}-{_hash(path)}{path.suffix}": path for path in sorted(FOLDER.iterdir())}


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@cache
def address_of(name: str) -> str:
    """The address of a file in the folder, for templates."""
    [found] = [hashed for hashed, path in _files().items() if path.name == name]
    return ADDRESS + found


async def serve(request: web.Request) -> web.Response:
    path = _files().get(request.match_info["name"])
    if path is None:
        raise web.HTTPNotFound
    return web.Response(
        body=path.read_bytes(),
        content_type=TYPES[path.suffix],
        charset="utf-8",
        headers={"Cache-Control": FOR_GOOD},
    )
