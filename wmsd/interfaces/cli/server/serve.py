"""The command `wmsd serve`."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import click
import uvloop

from wmsd.base.clock import SystemClock
from wmsd.base.machine.memory import keep_little
from wmsd.base.machine.shortages import is_shortage
from wmsd.base.plurals import count_of
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.data_folder.lending import Lending, Session, Verb, listener
from wmsd.data_folder.platform_facts import installation_verbs
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import bound_caches
from wmsd.db.files.open_files import FileBounds
from wmsd.host import orphaned_processes, own_program
from wmsd.host.one_file.eager_imports import settle_temporary_folder
from wmsd.host.systemd.notify import ServiceManager, environment_of_next
from wmsd.host.tls.certificate_files import check_files
from wmsd.host.tls.served_certificate import ServedTls
from wmsd.host.watchdog import Watchdog
from wmsd.installation.open_installation import Installation, open_installation
from wmsd.interfaces.cli.kit.command_hints import command_completer, completing_anywhere
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, with_installation
from wmsd.interfaces.cli.kit.commands_page import COMMANDS
from wmsd.interfaces.cli.kit.exposure_warnings import risks
from wmsd.interfaces.cli.kit.shown_address import address_for_people
from wmsd.interfaces.cli.server.listen_addresses import (
    address_of,
    listening_as_set,
    listening_to_scrapes,
    try_listening_as_set,
)
from wmsd.interfaces.cli.server.new_folder import create_option, may_be_made, with_backups_inside
from wmsd.interfaces.cli.server.stop_deadline import begin_deadline
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.listener import for_companies, raise_file_limit
from wmsd.interfaces.pages.kit.addresses import DEMO, FIRST_ADMIN
from wmsd.interfaces.service import FOR_BROWSERS, LIVE_FIGURES, service
from wmsd.log import output as logs
from wmsd.maintenance.backups.newest_backup import BackupsIn
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.maintenance.backups.server_side import Holder
from wmsd.maintenance.company_moves.freeze import Freezer
from wmsd.maintenance.keys.key_protection import VERB as KEY_PROTECTION
from wmsd.maintenance.keys.key_protection import key_protection_verb
from wmsd.maintenance.upgrades import first_start
from wmsd.maintenance.upgrades.first_start import Trial
from wmsd.maintenance.upgrades.kept_copies import KeptCopies
from wmsd.maintenance.upgrades.switch_program import START_AGAIN
from wmsd.platform.admin_view.examination_runs import Examinations
from wmsd.platform.admin_view.service import Started
from wmsd.platform.settings_audit import audit_settings
from wmsd.server.figures.ask import FIGURES, figures_verb
from wmsd.settings.environment import unused_variables
from wmsd.settings.sections.fields import MEGABYTE
from wmsd.settings.sources import as_set
from wmsd.tenants.one_time_links.actions import offer_first_admin
from wmsd.tenants.one_time_links.demo import DemoPerson

if TYPE_CHECKING:
    from wmsd.installation.demo import Loaded

LOG = logging.getLogger("wmsd.serve")
TURN_SECONDS = 0.0005
"""The switch interval of Python, in seconds: how long another thread may run while the event loop waits for it.

The event loop releases Python's interpreter lock at every system call, dozens of times in a request. With Python's
default of 5 ms, one busy thread delayed all requests.
"""
FIRST_REQUESTS_SECONDS = 0.5
COLLECTED_AFTER = (2_000, 10, 15)
"""Thresholds of Python's garbage collector.

Young objects are collected often, because all requests wait during a collection. All objects are collected seldom,
because this scans every live object.
"""


@click.command("serve")
@click.option("--listen", metavar="HOST:PORT", help="The address to listen on.  [default: 127.0.0.1:8480]")
@click.option(
    "--tls",
    metavar="off|lan|files",
    help="off: plain HTTP; lan: https with a certificate from wmsd's own authority, for the LAN; files: https "
    "with the certificate in server.certificate.  [default: off]",
)
@click.option("--demo", "with_demo", is_flag=True, help="Also create a demo company, and a token for it.")
@create_option
@with_installation
def serve_command(
    command_line: CommandLine, listen: str | None, tls: str | None, with_demo: bool, create: bool
) -> None:
    """Serve the API and the pages until Ctrl-C.

    The command creates the data folder if it does not exist. If the folder has other files, but no wmsd data, the
    command asks first. Only one server at a time can use a data folder; the other commands work while it runs.
    """
    keep_little()
    command_line.say_path()
    command_line.folder.check_seen()  # before the log starts, because its file may be in the same place
    log = command_line.settings.log
    complete = command_completer()
    logs.configure(log, complete)
    for sentence in (*command_line.old_places, *unused_variables(command_line.settings.webhooks.proxy)):
        LOG.warning("%s", sentence)
    with logs.start_log(log, complete) as is_started:
        is_to_start_again = _served(command_line, with_demo, create, is_started)
    if is_to_start_again:
        _start_again()
        raise StorageError("wmsd could not restart. Start wmsd manually.")


def _served(command_line: CommandLine, with_demo: bool, create: bool, is_started: Callable[[], None]) -> bool:
    """Check, create, lock and migrate the data folder, then run `_serve` in it, and return its result."""
    folder, settings = command_line.folder, command_line.settings
    if command_line.two_places:
        raise StorageError(" ".join(command_line.two_places))
    check_files(settings.server)
    may_be_made(command_line, create)
    folder.check_platform(BackupsIn(command_line.backups))
    if not folder.is_made:  # no data folder is created for a server that cannot listen
        try_listening_as_set(settings)
    folder.make_place()
    folder.check_writable()
    manager = ServiceManager()
    with manager.working("Waiting for commands that use the data folder."):
        folder.lock(settings.server.listen)
    trial: Trial | None = None
    try:
        if not folder.is_made:
            folder.make()
            if with_demo:
                command_line = with_backups_inside(command_line)
                settings = command_line.settings
        with manager.working("Migrating platform.db."):
            trial = first_start.begin(folder)
            folder.open(KeptCopies(folder).keep, BackupsIn(command_line.backups))
        folder.make_reserve()
        served_tls = ServedTls(settings.server, folder.path, SystemClock()) if settings.server.has_tls else None
        return uvloop.run(_serve(command_line, served_tls, with_demo, trial, manager, is_started))
    except Exception as error:
        if trial is None or not trial.fail(error):
            raise
        return True
    finally:
        folder.unlock()


async def _serve(
    command_line: CommandLine,
    served_tls: ServedTls | None,
    with_demo: bool,
    trial: Trial | None,
    manager: ServiceManager,
    is_started: Callable[[], None],
) -> bool:
    """Serve until the process must stop. Return True if the program must be started again."""
    settings = command_line.settings
    tls = None if served_tls is None else served_tls.context
    files = raise_file_limit()
    sys.setswitchinterval(TURN_SECONDS)
    asyncio.get_running_loop().set_exception_handler(_unhandled(RepeatedFailures(LOG, (RuntimeError,))))
    stop = _stop()
    lent_at = listener(command_line.folder)
    start_again = asyncio.Event()
    async with open_installation(
        settings,
        command_line.folder,
        alone=lent_at is not None and not settings.replica.enabled,
        before_migration=KeptCopies(command_line.folder).keep,
    ) as installation:
        await installation.platform.open()
        company_ids = await installation.access.companies()
        bounds = FileBounds.within(settings.storage.memory, for_companies(files))
        installation.files.open.bounds = bounds
        installation.files.start_threads()
        bound_caches(settings.storage.memory)
        if trial is not None:
            with manager.working("Migrating every file before the first request."):
                await trial.check(installation.files, company_ids)
            trial.succeed()
        await audit_settings(installation.platform, as_set(command_line.layers), installation.vault)
        started = _started(command_line, installation)
        app, jobs = service(installation, COMMANDS, started)
        await jobs.clock_watch.start()  # before the first change, because change sequences follow the clock
        loaded = await _load_demo(installation) if with_demo else None
        async with AsyncExitStack() as stack:
            at = await stack.enter_async_context(listening_as_set(app, settings, tls, files))
            scraped_at = await stack.enter_async_context(listening_to_scrapes(app, settings))
            own = address_of(at, tls)
            address = address_for_people(own, settings.server.listen)
            command_line.folder.say_listening(own.partition("://")[2], lent_at is not None, address=address)
            if lent_at is not None:
                verbs = Holder(command_line.folder, installation.platform, installation.files).verbs
                lending = Lending(
                    command_line.folder,
                    installation.platform,
                    installation.files,
                    {
                        **verbs,
                        **Freezer(installation, jobs.sender.is_at_rest, jobs.sender.committed).verbs,
                        START_AGAIN: _ending(stop, start_again),
                        FIGURES: figures_verb(app[LIVE_FIGURES]),
                        **installation_verbs(installation.platform),
                        KEY_PROTECTION: key_protection_verb(installation.platform),
                    },
                )
                stack.push_async_callback(lending.stop)
                await lending.start(lent_at)
            stack.push_async_callback(jobs.stop)
            if started.examinations is not None:
                stack.push_async_callback(started.examinations.stop)
            await jobs.start()
            preparing = asyncio.ensure_future(_prepare(installation, company_ids))
            stack.callback(preparing.cancel)
            if served_tls is not None:
                stack.callback(asyncio.ensure_future(served_tls.keep()).cancel)
            _on_hangup(served_tls, manager)
            watchdog = Watchdog(asyncio.get_running_loop(), _start_again, manager.alive)
            watchdog.start()
            stack.callback(watchdog.stop)
            gc.freeze()  # objects of the start live for ever, so that later collections need not scan them
            gc.set_threshold(*COLLECTED_AFTER)
            if scraped_at is not None:
                LOG.info("metrics at %s", scraped_at)
            await _greet(installation, address, loaded)
            LOG.info(
                "wmsd opens at most %d connections to the companies' files; all connections together may use "
                "%d MB of memory (storage.memory_megabytes) and %d of %d file descriptors",
                bounds.connections,
                settings.storage.memory // MEGABYTE,
                bounds.descriptors,
                files,
            )
            for sentence in risks(settings, command_line.folder.platform_file):
                LOG.warning(sentence)
            manager.ready(f"Serving {address}")
            is_started()
            stack.callback(asyncio.ensure_future(_go_on(app)).cancel)
            stack.callback(asyncio.ensure_future(orphaned_processes.reap_orphans()).cancel)
            await stop.wait()
            end_deadline = begin_deadline(
                installation.platform,
                installation.files,
                lambda: _start_again() if start_again.is_set() else None,
            )
            logs.flush()
            if start_again.is_set():
                sentence = "Restarting with the installed program: running requests finish first."
                manager.starting_again(sentence)
            else:
                sentence = "Stopping: running requests finish first."
                manager.stopping(sentence)
            note(sentence)
    end_deadline()
    LOG.info("stopped")
    return start_again.is_set()


def _ending(stop: asyncio.Event, start_again: asyncio.Event) -> Verb:
    async def end(session: Session, argument: Any) -> None:
        start_again.set()
        stop.set()

    return end


def _started(command_line: CommandLine, installation: Installation) -> Started:
    folder, clock = command_line.folder, installation.clock
    schedule = _own_command(command_line, "backup", "schedule", "--run")
    backups = ScheduledBackups(schedule, command_line.settings.backup, folder, clock)
    doctor = _own_command(command_line, "doctor", "--progress")
    examinations = Examinations(doctor, folder, clock)
    complete = completing_anywhere(folder.path, command_line.config_file)
    return Started(backups, examinations, command_line.layers, command_line.config_file, complete)


def _own_command(command_line: CommandLine, *command: str) -> list[str]:
    """Return the command line that runs `command` of this program in a process beside the server."""
    return own_program.command(*command, data=command_line.folder.path, config_file=command_line.config_file)


async def _go_on(app: web.Application) -> None:
    """Wait half a second, then load the pages and other parts that the first requests do not need."""
    await asyncio.sleep(FIRST_REQUESTS_SECONDS)
    from wmsd.interfaces.pages.kit.rendering import load_templates  # imported here, because it imports the pages

    try:
        await app[FOR_BROWSERS].prepare()
        await asyncio.to_thread(load_templates)
    except Exception as error:
        if not is_shortage(error):
            raise
        LOG.warning("the pages could not be loaded now; wmsd loads them at the first request: %s", error)
    gc.freeze()
    await settle_temporary_folder()


async def _prepare(installation: Installation, company_ids: Collection[int]) -> None:
    """Migrate the companies' files to this program's schema, while the first requests are served."""
    began = time.monotonic()
    await installation.files.prepare(company_ids)
    failed = len(installation.files.failed)
    LOG.info(
        "%s up to date after %.1f s; files that cannot be used: %d",
        count_of(len(company_ids) - failed, "company's file is", "companies' files are"),
        time.monotonic() - began,
        failed,
    )


def _unhandled(shortages: RepeatedFailures) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return the event loop's error handler. If this machine lacks a resource, `shortages` logs the error."""

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception) and is_shortage(error):
            shortages.failed("connections are interrupted", error)
        else:
            loop.default_exception_handler(context)

    return handle


def _start_again() -> None:
    """Replace the process with a new run of the program. Return only if the system refuses this."""
    environment = {**environment_of_next(), "PYINSTALLER_RESET_ENVIRONMENT": "1"}
    with contextlib.suppress(OSError):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606  (no shell)


async def _load_demo(installation: Installation) -> "Loaded":
    from wmsd.installation import demo  # imported here, so that a start without the demo is faster

    return await demo.load(installation)


async def _greet(installation: Installation, address: str, loaded: "Loaded | None") -> None:
    """Print the addresses that the user needs next, and the demo company if `loaded` has one."""
    first = f"wmsd serves {address}"
    address = installation.settings.server.public_url or address
    lines = [first, f"Guide:        {address}/docs"]
    code = await installation.platform.write(offer_first_admin)
    if code is not None:
        lines.append(f"First admin:  {address}{FIRST_ADMIN}?code={code}   (works once, for a day)")
    if loaded is not None:
        lines += [
            f"Demo company: {loaded.company_name}, id {loaded.company_id}",
            *(_link_into_demo(address, person, code) for person, code in loaded.links),
            f"Token:        {loaded.token}",
            "",
            "Try it:",
            f"curl -H 'Authorization: Bearer {loaded.token}' -H 'X-Company-Id: {loaded.company_id}' "
            f"'{address}/api/articles?per_page=2'",
        ]
    try:
        click.echo("\n".join(lines))
    except OSError as error:
        LOG.warning("the start message with the addresses could not be printed: %s", error.strerror)
    LOG.info("serving %s", address)


def _link_into_demo(address: str, person: DemoPerson, code: str) -> str:
    heading = "Open it:" if person.work is None else f"As {person.work.text.lower()}:"
    return f"{heading:13} {address}{DEMO}?code={code}   (works once, for a day)"


def _on_hangup(served_tls: ServedTls | None, manager: ServiceManager) -> None:
    """Read the certificate again on SIGHUP, without stopping anything."""

    def reload() -> None:
        with manager.reloading():
            if served_tls is not None:
                served_tls.reload()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


def _stop() -> asyncio.Event:
    """Return an event that Ctrl-C and SIGTERM set."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    return stop
