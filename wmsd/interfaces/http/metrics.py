"""`/metrics` for Prometheus, at a separate address (`metrics.listen`), or at the service's address with a token.

The file `metrics.token_file` contains the token. If both settings are missing, wmsd does not serve `/metrics`.
"""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wmsd.base.machine.secret_files import read_scrape_token
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.host.listen_sockets import place_of
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.connections import Bounds
from wmsd.interfaces.http.listener import open_listener
from wmsd.interfaces.http.server import add_open
from wmsd.server.figures.live import LiveFigures
from wmsd.settings.sections.metrics import Metrics

if TYPE_CHECKING:
    from wmsd.server.figures.schema import ServerFigures

LOG = logging.getLogger("wmsd.metrics")
PATH: Final = "/metrics"
BOUNDS: Final = Bounds(connections=32, connections_of_an_address=8)
NOT_LET_IN: Final = "Send the token of metrics.token_file: Authorization: Bearer <token>.\n"
TOKEN_UNREADABLE: Final = "The file of metrics.token_file cannot be used. The log of the server says why.\n"
NO_FIGURES: Final = "The metrics cannot be read now. The log of the server says why.\n"
WITHOUT_TOKEN: Final = "no program can read the metrics: metrics.token_file cannot be used"
NOT_READ: Final = "the metrics cannot be read"
Handler = Callable[[web.Request], Awaitable[web.Response]]


class Scraping:
    def __init__(self, settings: Metrics, figures: LiveFigures) -> None:
        self._token_file = Path(settings.token_file) if settings.token_file else None
        self._figures = figures
        self._told = RepeatedFailures(LOG, (ValueError, *STORAGE_FAILURES))

    async def answer(self, request: web.Request) -> web.Response:
        if self._token_file is not None:
            try:
                token = await asyncio.to_thread(read_scrape_token, self._token_file)
            except (OSError, ValueError) as error:
                self._told.failed(WITHOUT_TOKEN, error)
                return web.Response(status=503, text=TOKEN_UNREADABLE)
            self._told.over(WITHOUT_TOKEN)
            if not _is(requests.bearer(requests.header_value(request.headers, "Authorization")), token):
                return web.Response(status=401, text=NOT_LET_IN, headers={"WWW-Authenticate": "Bearer"})
        try:
            figures = await self._figures.read()
        except STORAGE_FAILURES as error:
            self._told.failed(NOT_READ, error)
            return web.Response(status=503, text=NO_FIGURES)
        self._told.over(NOT_READ)
        body, content_type = await asyncio.to_thread(_exposed, figures)
        return web.Response(body=body, headers={"Content-Type": content_type, "Cache-Control": "no-store"})


def _exposed(figures: "ServerFigures") -> tuple[bytes, str]:
    from wmsd.server.figures.prometheus import CONTENT_TYPE, exposition  # imported at the first scrape

    return exposition(figures), CONTENT_TYPE


def _is(sent: str | None, token: str) -> bool:
    return sent is not None and hmac.compare_digest(sent.encode("utf-8", "replace"), token.encode())


def add_to(app: web.Application, installation: Installation, figures: LiveFigures) -> None:
    """Serve `/metrics` at the service's address. Do nothing if `/metrics` has a separate address, or if there is
    no token file.

    `figures` provides the values.
    """
    settings = installation.settings.metrics
    if settings.token_file and not settings.listen:
        add_open(app, "GET", PATH, Scraping(settings, figures).answer)


@asynccontextmanager
async def listening_for_scrapes(settings: Metrics, figures: LiveFigures) -> AsyncIterator[str | None]:
    """Serve `/metrics` at its own address, and yield the URL. Yield None if no address is set.

    Raise OSError or UnicodeError if the address cannot be used.
    """
    if not settings.listen:
        yield None
        return
    app = web.Application()
    app.router.add_get(PATH, partial(_named, Scraping(settings, figures).answer))
    async with open_listener(app, *place_of(settings.listen), bounds=BOUNDS) as (at, number):
        yield f"http://{f'[{at}]' if ':' in at else at}:{number}{PATH}"


async def _named(answer: Handler, request: web.Request) -> web.Response:
    given = await answer(request)
    given.headers["Server"] = "wmsd"
    given.headers["X-Content-Type-Options"] = "nosniff"
    return given
