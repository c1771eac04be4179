"""Where `wmsd serve` listens, by its settings, and what is said when it cannot."""

import os
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from wmsd.app.settings import Settings
from wmsd.base.addresses import networks
from wmsd.db.failures import StorageError
from wmsd.interfaces.http.connections import Bounds
from wmsd.interfaces.http.listening import bounded_by_files, listening, try_listening
from wmsd.interfaces.http.metrics import listening_for_scrapes
from wmsd.interfaces.http.web import web
from wmsd.interfaces.service import LIVE_FIGURES


@asynccontextmanager
async def listening_as_set(
    app: web.Application, settings: Settings, tls: ssl.SSLContext | None, files: int
) -> AsyncIterator[tuple[str, int]]:
    """Listens at the address of the settings, and yields it. Raises StorageError."""
    server = settings.server
    bounds = bounded_by_files(Bounds(server.connections, server.connections_per_address), files)
    proxies = networks(server.trusted_proxies)
    async with AsyncExitStack() as stack:
        with _told_where(settings):
            there = listening(app, *_place(settings), bounds=bounds, tls=tls, proxies=proxies)
            at = await stack.enter_async_context(there)
        yield at


async def try_listening_as_set(settings: Settings) -> None:
    """Raises StorageError where it would fail."""
    with _told_where(settings):
        await try_listening(*_place(settings))


def _place(settings: Settings) -> tuple[str, int]:
    host, _, port = settings.server.listen.rpartition(":")
    return host.strip("[]"), int(port)


@contextmanager
def _told_where(settings: Settings) -> Iterator[None]:
    """Raises StorageError where it fails."""
    try:
        yield
    except (OSError, UnicodeError) as error:
        raise StorageError(
            f"Cannot listen on {settings.server.listen}: {_reason(error)}. "
            "Choose another address with --listen HOST:PORT."
        ) from None


@asynccontextmanager
async def listening_to_scrapes(app: web.Application, settings: Settings) -> AsyncIterator[str | None]:
    """Where metrics have an address of their own: listens there, and yields it. Raises StorageError."""
    async with AsyncExitStack() as stack:
        try:
            listening_there = listening_for_scrapes(settings.metrics, app[LIVE_FIGURES])
            at = await stack.enter_async_context(listening_there)
        except (OSError, UnicodeError) as error:
            raise StorageError(
                f"Cannot listen on {settings.metrics.listen} for metrics: {_reason(error)}. "
                "Set metrics.listen to another address."
            ) from None
        yield at


def _reason(error: OSError | UnicodeError) -> str:
    """The system's reason only: asyncio wraps it in a longer sentence."""
    if isinstance(error, UnicodeError):
        return "there can be no such host"
    number = error.errno or 0
    return (os.strerror(number) if number > 0 else error.strerror or str(error)).lower()


def address_of(at: tuple[str, int], tls: ssl.SSLContext | None) -> str:
    host, port = at
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  (shown, not bound)
    return f"{'https' if tls else 'http'}://{shown}:{port}"
