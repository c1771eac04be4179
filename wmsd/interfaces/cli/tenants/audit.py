"""The command `wmsd audit`."""

import csv
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import click

from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    cell_text,
    json_option,
    say,
    say_text,
    with_installation,
)
from wmsd.interfaces.cli.kit.moments import moment_option
from wmsd.tenants.companies import store as companies

MOST: Final = 100_000
LOOK_SECONDS: Final = 1.0
Rows = list[dict[str, Any]]
Reading = Callable[[Transaction], Rows]


@click.command("audit")
@click.option("--who", metavar="TEXT", help="Only entries of actors whose name contains this text.")
@click.option(
    "--what", metavar="TEXT", help="Only actions whose name begins with this text, such as user or user.change."
)
@click.option("--subject", metavar="TEXT", help="Only entries about this subject, such as an e-mail address.")
@click.option("--company", metavar="CODE", help="Only entries about this company, its sites and its webhooks.")
@moment_option("--since", "Only entries from this time on")
@moment_option("--until", "Only entries before this time")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=100,
    show_default=True,
    help="Number of entries to list, the last ones.",
)
@click.option("--follow", is_flag=True, help="Continue with new entries, until Ctrl-C.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
@with_installation
def audit_command(
    command_line: CommandLine,
    /,
    subject: str | None,
    company: str | None,
    as_csv: bool,
    as_json: bool,
    follow: bool,
    limit: int,
    **filters: str | int | None,
) -> None:
    """List who changed what in the installation, the newest last.

    Each entry has the client address, and the values before and after. With --follow, --json prints one entry per
    line.
    """
    if subject is not None and company is not None:
        raise click.UsageError("Give --subject or --company, not both.")
    if as_csv and as_json:
        raise click.UsageError("Give --csv or --json, not both.")
    if follow and filters["until"] is not None:
        raise click.UsageError("Give --follow or --until, not both.")
    filters["subject"] = company if subject is None else subject

    def entries(after: int, most: int) -> Reading:
        return lambda tx: companies.audit_entries(tx, **filters, after=after, limit=most)

    found = command_line.read(entries(0, limit))
    if follow:
        _follow(command_line, entries, found, as_csv, as_json)
    elif as_json:
        say(found, True)
    elif as_csv:
        _write_csv(found)
    else:
        say([{**row, "details": _in_words(row["details"])} for row in found], False, "No entries found.")


def _follow(
    command_line: CommandLine,
    entries: Callable[[int, int], Reading],
    found: Rows,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Print new entries until Ctrl-C.

    The file is opened again for each check, because an open file would delay a server's stop.
    """
    last, is_first = 0, True
    try:
        while True:
            _show_more(found, as_csv, as_json, is_first)
            is_first = False
            sys.stdout.flush()
            last = found[-1]["id"] if found else last
            time.sleep(LOOK_SECONDS)
            found = command_line.read(entries(last, MOST), is_again=True)
    except KeyboardInterrupt:
        pass


def _show_more(found: Rows, as_csv: bool, as_json: bool, is_first: bool) -> None:
    if as_csv:
        _write_csv(found, has_header=is_first)
        return
    for row in found:
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
        else:
            cells = {**row, "details": _in_words(row["details"])}
            shown = [cell_text(cell) for name, cell in cells.items() if name != "id" and cell is not None]
            say_text("  ".join(shown))


def _write_csv(found: Rows, has_header: bool = True) -> None:
    from wmsd.contract.csv_cells import write_cell  # imported only here, so that the command starts faster

    names = ("id", "at", "actor", "address", "action", "subject", "details")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if has_header:
        writer.writerow(names)
    for row in found:
        details = json.dumps(row["details"], ensure_ascii=False) if row["details"] else ""
        shown = {**row, "details": details}
        writer.writerow([write_cell(shown[name]) for name in names])


def _in_words(details: dict[str, Any] | None) -> str | None:
    if details is None:
        return None
    return "; ".join(
        f"{name}: {_shown(each['before'])} -> {_shown(each['after'])}" for name, each in details.items()
    )


def _shown(value: Any) -> str:
    return "-" if value is None else json.dumps(value, ensure_ascii=False)
