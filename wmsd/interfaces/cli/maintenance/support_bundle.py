"""The command `wmsd support-bundle`."""

import os
import sys
from collections import Counter, deque
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from wmsd import __version__
from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import read_only_view
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import sqlite3
from wmsd.host.systemd import journal
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    json_option,
    note,
    say,
    with_installation_despite_errors,
)
from wmsd.interfaces.cli.maintenance.findings import diagnose_installation, finding_as_json
from wmsd.interfaces.cli.server.status import status_as_json
from wmsd.log.files import LogFiles
from wmsd.log.output import escape_controls
from wmsd.maintenance.backups.last_runs import read_record
from wmsd.maintenance.doctor.examine import Examination, Report
from wmsd.maintenance.support_bundle import bundle, data_files, machine
from wmsd.maintenance.support_bundle.bundle import Part
from wmsd.maintenance.support_bundle.redaction import Hiding
from wmsd.maintenance.upgrades.journal import read_upgrade
from wmsd.platform.admin_view import settings as settings_in_force
from wmsd.server.alerts.alerts_file import read_alerts

LINES: Final = 2000
MOST_LINES: Final = 100_000
LOG_BYTES: Final = 16 * 1024 * 1024
MOST_MESSAGES: Final = 20
BY_ID: Final = "Companies are shown by their ids; --with-names shows their codes."
BY_CODE: Final = "Companies are shown by their codes (--with-names)."
UNKNOWN: Final = "platform.db could not be read, so the log may still contain codes of companies."
NO_LOG: Final = "There is no log: log.file is not set, and wmsd is not a systemd service here.\n"


@click.command("support-bundle")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--with-names", is_flag=True, help="Show the codes of companies, not only their ids.")
@click.option("--quick", is_flag=True, help="Skip the examination, which reads every data file.")
@click.option(
    "--lines",
    type=click.IntRange(0, MOST_LINES),
    default=LINES,
    show_default=True,
    help="Number of log lines to include.",
)
@json_option
@with_installation_despite_errors
def support_bundle_command(
    command_line: CommandLine, file: Path | None, with_names: bool, quick: bool, lines: int, as_json: bool
) -> None:
    """Write a file that helps others to find the cause of a problem, without secrets and customers' data.

    The bundle is a .tar.gz with a README.txt that describes its contents: version, settings, doctor's findings,
    status, the log, schemas, sizes of files, and facts about the machine. The command works with or without a
    running server, with a damaged data folder, and with errors in the settings. FILE is
    wmsd-support-TIME.tar.gz unless you name another one.
    """
    command_line.say_folder()
    now = datetime.now(UTC)
    file = file or Path(f"wmsd-support-{now:%Y%m%dT%H%M%SZ}.tar.gz")
    if file.exists():
        raise StorageError(f"{file} already exists. Name another file.")
    _check_place(file)
    try:
        command_line.check_made()
    except StorageError as error:
        note(f"{error} The bundle contains only what is still available.")
    codes = _codes(command_line.folder)
    hiding = Hiding(command_line.settings, None if with_names else codes)
    parts = []
    for part in _parts(command_line, codes, with_names, quick, lines):
        if sys.stderr.isatty():
            note(f"{part.name} …")
        parts.append(bundle.made(part, hiding))
    names = BY_CODE if with_names else BY_ID if codes is not None else f"{BY_ID} {UNKNOWN}"
    try:
        bundle.write(file, parts, names, now)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {reason_of(error)}.") from None
    rows = [{"file": each.name, "bytes": len(each.content), "has": each.says} for each in parts]
    say({"bundle": str(file), "parts": rows} if as_json else rows, as_json)
    for each in parts:
        if each.error is not None:
            note(f"{each.name} could not be collected: {each.error}")
    note(f"Written: {file}, {file.stat().st_size / 1000:.1f} kB. {names}")
    note(f"{bundle.READ_IT} tar -xzf {file}")


def _check_place(file: Path) -> None:
    """Raise StorageError if the file cannot be written, before any work is done."""
    if not os.access(file.absolute().parent, os.W_OK | os.X_OK):
        raise StorageError(
            f"{file} cannot be written: its folder does not exist, or this user may not write there. Name a "
            "file in another folder: wmsd support-bundle FILE"
        )


def _codes(folder: DataFolder) -> dict[int, str] | None:
    """Return the codes of the companies by id, or None if they cannot be read."""
    with suppress(StorageError, OSError, sqlite3.Error), read_only_view(folder) as borrow:
        return Examination(folder, borrow).companies()
    return None


def _parts(
    command_line: CommandLine, codes: dict[int, str] | None, with_names: bool, quick: bool, lines: int
) -> list[Part]:
    folder, settings = command_line.folder, command_line.settings
    data, files = folder.path, folder.companies
    return [
        Part(
            "version.json",
            "The versions of wmsd and SQLite, the running server, and the configuration file.",
            partial(_version, command_line),
        ),
        Part(
            "settings.json",
            "The settings in force, and the source of each.",
            partial(_settings_in_force, command_line),
        ),
        Part(
            "status.json",
            "The output of wmsd status, with the metrics of a running server.",
            partial(status_as_json, command_line),
        ),
        Part(
            "doctor.json",
            "The findings of wmsd doctor, without records.",
            partial(_doctor, command_line, quick),
        ),
        Part("log.txt", f"The last {lines} lines of the log.", partial(_log, settings.log.file, lines)),
        Part(
            "schemas.json",
            "The schema of each data file.",
            partial(data_files.schemas, folder.platform_file, files),
        ),
        Part("files.json", "The files of the data folder and their sizes.", partial(data_files.files, data)),
        Part(
            "companies.json",
            "The companies, and the sizes of their files.",
            partial(data_files.companies, files, codes, with_names),
        ),
        Part(
            "records.json",
            "What wmsd has stored about the last backup, upgrade and alerts.",
            partial(_records, data),
        ),
        Part("machine.json", "System, memory, disks, limits and clock.", partial(machine.facts, settings)),
    ]


def _version(command_line: CommandLine) -> dict[str, Any]:
    server, config = None, command_line.config_file
    with suppress(StorageError):  # the folder is missing, or belongs to another user
        server = command_line.folder.server()
    return {
        "wmsd": __version__,
        "sqlite": sqlite3.sqlite_version,
        "server": None if server is None else server._asdict(),
        "configuration_file": None if config is None else str(config),
    }


def _settings_in_force(command_line: CommandLine) -> dict[str, Any]:
    """Return the settings without the values that have errors, because such a value may be a secret."""
    shown = settings_in_force.settings_as_json(command_line.settings, command_line.layers)
    return {"mistakes": list(command_line.mistakes), **shown}


def _doctor(command_line: CommandLine, quick: bool) -> dict[str, Any]:
    with read_only_view(command_line.folder) as borrow:
        examination = Examination(command_line.folder, borrow)
        examination.companies()
        found = diagnose_installation(command_line, examination, measured=not quick)
        reports = []
        if not quick:
            reports = [_report(None, examination.platform())]
            reports += [_report(each, examination.company(each)) for each, _ in examination.known_companies()]
    return {"installation": [finding_as_json(each) for each in found], "files": reports}


def _log(file: str, most: int) -> str:
    if file and not Path(file).exists():
        return (
            f"The file {file} (log.file) does not exist: no server has written it yet, or the server ran "
            "in another folder.\n"
        )
    if file:
        lines = deque(LogFiles(Path(file)).lines(most_bytes=LOG_BYTES), maxlen=most)
    elif journal.is_there():
        lines = deque(journal.lines(journal.command(None, most, is_following=False)), maxlen=most)
    else:
        return NO_LOG
    return "".join(f"{escape_controls(line)}\n" for line in lines if line is not None)


def _records(data: Path) -> dict[str, Any]:
    kept, upgrade = read_alerts(data), read_upgrade(data)
    return {
        "backup": read_record(data).model_dump(),
        "upgrade": None if upgrade is None else upgrade.model_dump(),
        "alerts": {
            "open": [each.model_dump(exclude={"facts"}) for each in kept.open],
            "waiting": {name: len(each) for name, each in kept.waiting.items()},
            "failures": {name: each.model_dump() for name, each in kept.failures.items()},
        },
    }


def _report(company_id: int | None, report: Report) -> dict[str, Any]:
    """Return the problems that the doctor found in a file. Count differences instead of listing the records,
    because records are customers' data.
    """
    shown: dict[str, Any] = {"company": company_id, "file": report.file.name, "ok": report.is_right}
    if report.findings is None:
        return {**shown, "error": report.error}
    found = report.findings
    return {
        **shown,
        "rows": found.rows,
        "seconds": round(found.seconds, 3),
        "damage": [{"place": each.place, "messages": each.messages[:MOST_MESSAGES]} for each in found.damages],
        "differences": Counter(each.promise for each in found.differences),
        "unproved": [asdict(each) for each in found.unproved],
    }
