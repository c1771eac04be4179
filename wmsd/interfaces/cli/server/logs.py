"""The command `wmsd logs`."""

import json
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

import click

from wmsd.db.engine.failures import StorageError
from wmsd.host.systemd import journal
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, with_installation_despite_errors
from wmsd.interfaces.cli.kit.moments import FORMS, Moment
from wmsd.log.files import LogFiles
from wmsd.log.record import LEVELS, LogRecord, records
from wmsd.tenants.companies import actions as companies

LINES: Final = 200
MOST_LINES: Final = 1_000_000
LOOKED_THROUGH: Final = 64 * 1024 * 1024
"""How many bytes at the end of the log are searched for the last lines."""
NO_LOG: Final = (
    "There is no log file: the server of this installation writes the log to standard error. Set "
    "log.file in the configuration and restart the server, or run wmsd as a systemd service: wmsd "
    "service install."
)


class LogFilter(NamedTuple):
    since: datetime | None
    level: str | None
    company: str | None
    request: str | None

    def fits(self, record: LogRecord) -> bool:
        return (
            (self.since is None or record.at is None or record.at >= self.since)
            and (self.level is None or record.is_at_least(self.level))
            and (self.company is None or record.fields.get("company_id") == self.company)
            and (self.request is None or record.fields.get("request_id") == self.request)
        )

    @property
    def chooses(self) -> bool:
        return self != LogFilter(None, None, None, None)


@click.command("logs")
@click.option("--since", type=Moment(), metavar="TIME", help=f"Only lines from this time on: {FORMS}.")
@click.option("--level", type=click.Choice(LEVELS[:-1]), help="Only lines of this level or a more serious level.")
@click.option("--company", metavar="CODE", help="Only lines about this company; CODE may also be an id.")
@click.option("--request", metavar="ID", help="Only lines about the request with this X-Request-Id.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(1, MOST_LINES),
    help=f"Show only the last N lines.  [default: {LINES}; all with --since or --request]",
)
@click.option("-f", "--follow", is_flag=True, help="Continue with new lines, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print each record as a JSON object on one line.")
@with_installation_despite_errors
def logs_command(
    command_line: CommandLine,
    since: datetime | None,
    level: str | None,
    company: str | None,
    request: str | None,
    lines: int | None,
    follow: bool,
    as_json: bool,
) -> None:
    """Show the log of the server.

    The command reads the file log.file and its rotated files. If log.file is not set and wmsd is a service of
    systemd, it reads the journal. The log contains a line for each request unless log.requests is false.
    """
    company_id = None if company is None else _company_id(command_line, company)
    wanted = LogFilter(since, level, company_id, request)
    most = lines or (None if since or request else LINES)
    file = command_line.settings.log.file
    try:
        if file:
            _show_files(Path(file), wanted, most, follow, as_json)
        elif journal.is_there():
            _show_journal(wanted, most, follow, as_json)
        else:
            raise StorageError(NO_LOG)
    except KeyboardInterrupt:
        return
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _company_id(command_line: CommandLine, company: str) -> str:
    """Return the company's id as text, because the log names companies by their ids."""
    if company.isascii() and company.isdecimal():
        return company
    return str(command_line.read(lambda tx: companies.company_of_code(tx, company)).id)


def _show_files(path: Path, wanted: LogFilter, most: int | None, follow: bool, as_json: bool) -> None:
    most_bytes = None if most is None or wanted.since else LOOKED_THROUGH
    lines = LogFiles(path).lines(wanted.since, most_bytes, follow)
    try:
        for_now = takewhile(lambda line: line is not None, lines)
        shown = _print(_last(_chosen(records(for_now), wanted), most), as_json)
        if not follow:
            _say_if_none(shown, wanted)
        _print(_chosen(records(lines), wanted), as_json)
    except FileNotFoundError:
        raise StorageError(
            f"The file {path} (log.file) does not exist: no server has written it yet, or the server ran in "
            "another folder. Start the server, or set log.file to the full path."
        ) from None
    except PermissionError:
        raise StorageError(
            f"This user cannot read {path} (log.file). Use the user of the server, or sudo."
        ) from None


def _show_journal(wanted: LogFilter, most: int | None, follow: bool, as_json: bool) -> None:
    """Print the lines of the journal that match the filters, at most the last `most` of them. With a filter, read
    more lines than `most`, because only matching lines count.
    """
    is_filtered = bool(wanted.level or wanted.company or wanted.request)
    asked = journal.command(wanted.since, None if is_filtered else most, follow)
    found = _chosen(records(_each(journal.lines(asked), follow)), wanted)
    shown = _print(found if follow else _last(found, most), as_json)
    _say_if_none(shown, wanted)


def _each(lines: Iterable[str], follow: bool) -> Iterator[str | None]:
    """Yield the lines of the journal. If `follow` is True, also yield None after each line.

    None means that a record has ended, so the reader of this iterator prints it immediately. The price is that a
    record of several lines is printed as several records.
    """
    for line in lines:
        yield line
        if follow:
            yield None


def _chosen(found: Iterable[LogRecord], wanted: LogFilter) -> Iterator[LogRecord]:
    return (record for record in found if wanted.fits(record))


def _last(found: Iterable[LogRecord], most: int | None) -> Iterable[LogRecord]:
    return found if most is None else deque(found, maxlen=most)


def _print(found: Iterable[LogRecord], as_json: bool) -> int:
    """Print the records, and return their number."""
    shown = 0
    for record in found:
        click.echo(json.dumps(record.as_json(), ensure_ascii=False) if as_json else record.text)
        shown += 1
    return shown


def _say_if_none(shown: int, wanted: LogFilter) -> None:
    if not shown:
        note("No log lines match these filters." if wanted.chooses else "The log is empty.")
