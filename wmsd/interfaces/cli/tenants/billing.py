"""The command `wmsd billing`."""

import re
from typing import Any, Final

import click

from wmsd.events.outbox import store
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, say, with_installation
from wmsd.interfaces.cli.kit.company_data import read_company

MONTH: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
Counts = dict[str, dict[str, int]]


def _month(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not MONTH.fullmatch(given):
        raise click.BadParameter("must be a year and a month, such as 2026-11")
    return given


@click.command("billing")
@click.argument("company", metavar="COMPANY")
@click.option("--month", metavar="YYYY-MM", callback=_month, help="Only this month.  [default: every month]")
@json_option
@with_installation
def billing_command(command_line: CommandLine, company: str, month: str | None, as_json: bool) -> None:
    """Count the events of COMPANY by month and name, for billing.

    Each event counts once, in the month in which it happened (UTC). It does not matter how many webhooks deliver
    it, and after how many attempts. Counts are never deleted.
    """
    counts = read_company(command_line, company, lambda tx: store.event_counts(tx, month))
    if as_json:
        say(_as_json(company, counts), as_json)
    else:
        when = f"in {month}" if month else "yet"
        say(_rows(counts), as_json, f"{company} has no events {when}.")


def _rows(counts: Counts) -> list[dict[str, Any]]:
    return [
        {"month": month, "event": event, "count": count}
        for month, events in counts.items()
        for event, count in (*events.items(), ("total", sum(events.values())))
    ]


def _as_json(company: str, counts: Counts) -> dict[str, Any]:
    months = [
        {"month": month, "events": events, "total": sum(events.values())} for month, events in counts.items()
    ]
    return {"company": company, "months": months, "total": sum(sum(events.values()) for events in counts.values())}
