"""`wmsd serve`."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import uvloop

from wmsd.accounts import first_admin
from wmsd.app import logs
from wmsd.app.settings import Settings, SettingsError
from wmsd.app.site import Site, open_site
from wmsd.db.failures import StorageError
from wmsd.interfaces.cli.installation import Installation, installed, note
from wmsd.interfaces.http.pages import FIRST_ADMIN
from wmsd.interfaces.http.web import web
from wmsd.interfaces.service import service

if TYPE_CHECKING:
    from wmsd.app.demo import Loaded

LOG = logging.getLogger("wmsd.serve")
GRACE_SECONDS = 10.0


@click.command("serve")
@click.option("--listen", metavar="HOST:PORT", help="Where to listen.  [default: 127.0.0.1:8480]")
@click.option("--demo", "with_demo", is_flag=True, help="Have a demo company too, and a token for it.")
@installed
def serve_command(installation: Installation, listen: str | None, with_demo: bool) -> None:
    """Serve the API and the pages until Ctrl-C.

    Makes the data folder when there is none. One server at a time can have a data folder; the other commands
    work beside it.
    """
    logs.configure(installation.settings.log)
    installation.say_folder()
    folder, settings = installation.folder, installation.settings
    tls = _tls(settings)
    if not folder.is_made:
        folder.make()
    folder.check_writable()
    folder.lock(settings.server.listen)
    try:
        folder.open()
        uvloop.run(_serve(installation, tls, with_demo))
    finally:
        folder.unlock()


async def _serve(installation: Installation, tls: ssl.SSLContext | None, with_demo: bool) -> None:
    settings = installation.settings
    stop = _stop()
    async with open_site(settings, installation.folder) as site:
        company_ids = await site.access.companies()
        site.files.prepare_all(company_ids)
        loaded = await _load_demo(site) if with_demo else None
        app, jobs = service(site)
        runner = web.AppRunner(
            app,
            access_log=None,
            handler_cancellation=True,
            shutdown_timeout=GRACE_SECONDS,
            keepalive_timeout=75,
        )
        await runner.setup()
        host, _, port = settings.server.listen.rpartition(":")
        listener = web.TCPSite(runner, host.strip("[]"), int(port), ssl_context=tls)
        try:
            await listener.start()
        except (OSError, UnicodeError) as error:
            await runner.cleanup()
            raise StorageError(
                f"Cannot listen on {settings.server.listen}: {_reason(error)}. "
                "Choose another address with --listen HOST:PORT."
            ) from None
        address = _address(runner, tls)
        installation.folder.say_listening(address.partition("://")[2])
        await jobs.start()
        gc.freeze()  # what a start leaves is there to stay: no later collection has to look at it
        try:
            await _greet(site, address, loaded)
            await stop.wait()
            note("Stopping: what is under way is finished first.")
        finally:
            await jobs.stop()
            await runner.cleanup()
    LOG.info("stopped")


async def _load_demo(site: Site) -> "Loaded":
    from wmsd.app import demo  # a start without it is quicker

    return await demo.load(site)


async def _greet(site: Site, address: str, loaded: "Loaded | None") -> None:
    """What the person who started it needs next, on standard output; the log is on standard error."""
    lines = [f"wmsd serves {address}", f"Guide:        {address}/docs"]
    code = await site.platform.write(first_admin.offer)
    if code is not None:
        lines.append(f"First admin:  {address}{FIRST_ADMIN}?code={code}   (works once, for a day)")
    if loaded is not None:
        lines += [
            f"Demo company: {loaded.company_name}, id {loaded.company_id}",
            f"Token:        {loaded.token}",
            "",
            "Try it:",
            f"curl -H 'Authorization: Bearer {loaded.token}' -H 'X-Company-Id: {loaded.company_id}' "
            f"'{address}/api/articles?per_page=2'",
        ]
    click.echo("\n".join(lines))
    sys.stdout.flush()
    LOG.info("serving %s", address)


def _reason(error: OSError | UnicodeError) -> str:
    """In short: asyncio puts a sentence of its own around the system's."""
    if isinstance(error, UnicodeError):
        return "there can be no such host"
    number = error.errno or 0
    return (os.strerror(number) if number > 0 else error.strerror or str(error)).lower()


def _address(runner: web.AppRunner, tls: ssl.SSLContext | None) -> str:
    host, port = runner.addresses[0][:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  (shown, not bound)
    return f"{'https' if tls else 'http'}://{shown}:{port}"


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if not settings.server.tls:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(Path(settings.server.tls))
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"server.tls: {settings.server.tls} is not a PEM file with a certificate and its key: {error}."
        ) from None
    return context


def _stop() -> asyncio.Event:
    """Set by Ctrl-C and by SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(name, stop.set)
    return stop
