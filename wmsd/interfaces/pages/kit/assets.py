"""The stylesheet and other files that pages load.

Each name contains the hash of the content, so browsers may cache a file forever.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Final

from wmsd.interfaces.http.aiohttp_web import web

FOLDER: Final = files("wmsd.interfaces.pages") / "static"
ADDRESS: Final = "/pages/"
FOR_GOOD: Final = "public, max-age=31536000, immutable"
TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def _files() -> Mapping[str, bytes]:
    """Return the contents of the files, by their names in the folder."""
    return {file.name: file.read_bytes() for file in FOLDER.iterdir()}


@cache
def _names() -> Mapping[str, str]:
    """Return the file names in the folder. The keys are the file names on pages, which contain a hash."""
    return {_hashed(name, content): name for name, content in _files().items()}


def _hashed(name: str, content: bytes) -> str:
    path = PurePath(name)
    return f"{path.stem}-{hashlib.sha256(content).hexdigest()[:12]}{path.suffix}"


@cache
def address_of(name: str) -> str:
    """Return the address of a file in the folder, for templates."""
    return ADDRESS + _hashed(name, _files()[name])


async def serve(request: web.Request) -> web.Response:
    name = _names().get(request.match_info["name"])
    if name is None:
        raise web.HTTPNotFound
    return web.Response(
        body=_files()[name],
        content_type=TYPES[PurePath(name).suffix],
        charset="utf-8",
        headers={"Cache-Control": FOR_GOOD},
    )
