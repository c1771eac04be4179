"""Opens the addresses at which `wmsd serve` listens, and explains the error if that fails."""

import errno
import os
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Final

from wmsd.base.client_addresses import networks
from wmsd.db.engine.failures import StorageError
from wmsd.host.listen_sockets import place_of, try_listening
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.connections import Bounds
from wmsd.interfaces.http.listener import bounded_by_files, open_listener
from wmsd.interfaces.http.metrics import listening_for_scrapes
from wmsd.interfaces.service import LIVE_FIGURES
from wmsd.settings.all_settings import Settings

SERVICE: Final = "server.listen (--listen)"
METRICS: Final = "metrics.listen"


@asynccontextmanager
async def listening_as_set(
    app: web.Application, settings: Settings, tls: ssl.SSLContext | None, files: int
) -> AsyncIterator[tuple[str, int]]:
    """Listen at the address of the settings, and yield the host and port. Raise StorageError if this fails.

    `files` is the system's open file limit. Because of this limit, wmsd may accept fewer connections than the
    settings allow.
    """
    server = settings.server
    bounds = bounded_by_files(Bounds(server.connections, server.connections_per_address), files)
    proxies = networks(server.trusted_proxies)
    async with AsyncExitStack() as stack:
        with _explain_listen_failure(server.listen):
            there = open_listener(app, *place_of(server.listen), bounds=bounds, tls=tls, proxies=proxies)
            at = await stack.enter_async_context(there)
        yield at


def try_listening_as_set(settings: Settings) -> None:
    """Raise StorageError if the server could not listen at the address of the settings."""
    with _explain_listen_failure(settings.server.listen):
        try_listening(settings.server.listen)


@asynccontextmanager
async def listening_to_scrapes(app: web.Application, settings: Settings) -> AsyncIterator[str | None]:
    """Listen at the separate address for metrics, and yield this address. If the settings have no such address,
    yield None.

    Raise StorageError if listening fails.
    """
    async with AsyncExitStack() as stack:
        with _explain_listen_failure(settings.metrics.listen, " for metrics", METRICS):
            at = await stack.enter_async_context(listening_for_scrapes(settings.metrics, app[LIVE_FIGURES]))
        yield at


@contextmanager
def _explain_listen_failure(listen: str, what_for: str = "", setting: str = SERVICE) -> Iterator[None]:
    """Raise StorageError if listening at `listen` fails inside the context. If the port is in use, the error names
    the process that uses it.

    For the error, `what_for` is a text such as " for metrics", and `setting` is the name of the setting that has
    the address.
    """
    try:
        yield
    except (OSError, UnicodeError) as error:
        what_to_do = f"Choose another address in {setting}."
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            from wmsd.maintenance.doctor.network import held_by  # imported here, because it is seldom needed

            what_to_do = " ".join(f"{each.sentence} {each.remedy}" for each in held_by(listen, setting))
        raise StorageError(f"Cannot listen on {listen}{what_for}: {_reason(error)}. {what_to_do}") from None


def _reason(error: OSError | UnicodeError) -> str:
    """Return the system's reason for the error, without the longer sentence that asyncio puts around it."""
    if isinstance(error, UnicodeError):
        return "this host name is not possible"
    number = error.errno or 0
    return (os.strerror(number) if number > 0 else error.strerror or str(error)).lower()


def address_of(at: tuple[str, int], tls: ssl.SSLContext | None) -> str:
    host, port = at
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  (shown, not bound)
    return f"{'https' if tls else 'http'}://{shown}:{port}"
