"""The guide at /docs."""

import html
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from string import Template
from typing import Final

from wmsd import docs
from wmsd.app.prepared import Prepared
from wmsd.interfaces.http.server import add_open, response, unless_known
from wmsd.interfaces.http.web import web

DOCS: Final = Path(docs.__file__).parent
FRAME: Final = Template((Path(__file__).parent / "frame.html").read_text(encoding="utf-8"))
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def add_to(app: web.Application) -> None:
    add_open(app, "GET", "/", _home)
    guide = {file.stem: _rendered(partial(file.read_text, encoding="utf-8")) for file in sorted(DOCS.glob("*.md"))}
    add_open(app, "GET", "/docs", partial(_guide, guide))
    add_open(app, "GET", "/docs/{name}", partial(_guide, guide))


def page(title: str, body: str, status: int = 200) -> web.Response:
    """A page. `body` is HTML; the caller has escaped all outside text in it."""
    return web.Response(status=status, text=_framed(title, body), content_type="text/html", headers=HEADERS)


def _framed(title: str, body: str) -> str:
    return FRAME.substitute(title=html.escape(title), body=body)


async def _home(request: web.Request) -> web.Response:
    raise web.HTTPFound("/today")


async def _guide(guide: Mapping[str, Prepared], request: web.Request) -> web.Response:
    found = guide.get(request.match_info.get("name", "index"))
    if found is None:
        raise web.HTTPNotFound
    reply = await found.reply()
    reply.headers = {**HEADERS, **reply.headers}
    return response(unless_known(request, reply))


def _rendered(markdown: Callable[[], str]) -> Prepared:
    """A page of the guide. It is rendered once, because that takes up to 30 ms."""

    def make() -> bytes:
        from wmsd.interfaces.http.markdown import to_html  # imported only when somebody reads the guide

        text = markdown()
        title = text.partition("\n")[0].lstrip("# ")
        return _framed(title, to_html(text)).encode()

    return Prepared(make, "text/html; charset=utf-8")
