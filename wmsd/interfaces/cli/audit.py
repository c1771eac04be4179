"""`wmsd audit`."""

import csv
import json
import sys
from typing import Any

import click
from pydantic import BaseModel

from wmsd.app.installation import Installation
from wmsd.base.listing import QueryTimestamp
from wmsd.base.problems import Problem
from wmsd.base.validation import check
from wmsd.companies import audit_log
from wmsd.interfaces.cli.command_line import CommandLine, installed, json_option, say

MOST: int = 100_000
DIGITS_OF_A_DAY = len("2026-11-24")


class Moment(BaseModel):
    moment: QueryTimestamp


class MomentOption(click.ParamType[str]):
    """A day, which begins at midnight UTC, or a timestamp with its offset."""

    name = "MOMENT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = f"{value}T00:00:00Z" if len(str(value)) == DIGITS_OF_A_DAY else str(value)
        try:
            return check(Moment, {"moment": text}).moment
        except Problem:
            self.fail(f"{value!r} is not a moment such as 2026-11-24 or 2026-11-24T08:00:00Z.", param, ctx)


@click.command("audit")
@click.option("--who", metavar="TEXT", help="Only of those whose name has this in it.")
@click.option("--what", metavar="TEXT", help="Only what begins so, such as user or user.change.")
@click.option("--subject", metavar="TEXT", help="Only about this, such as an e-mail address.")
@click.option("--company", metavar="CODE", help="Only about this company, its sites and its webhooks.")
@click.option("--since", type=MomentOption(), help="Only from this day or moment on (UTC).")
@click.option("--until", type=MomentOption(), help="Only before this day or moment (UTC).")
@click.option(
    "--limit", type=click.IntRange(1, MOST), default=100, show_default=True, help="Of the last, so many."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
@installed
def audit_command(
    command_line: CommandLine,
    /,
    subject: str | None,
    company: str | None,
    as_csv: bool,
    as_json: bool,
    **filters: str | int | None,
) -> None:
    """List who did what to the installation, from where, and what was before and after. The last comes last."""
    if subject is not None and company is not None:
        raise click.UsageError("Give --subject or --company, not both.")
    if as_csv and as_json:
        raise click.UsageError("Give --csv or --json, not both.")

    async def work(installation: Installation) -> list[dict[str, Any]]:
        about = company if subject is None else subject
        return await installation.platform.read(lambda tx: audit_log.entries(tx, subject=about, **filters))

    found = command_line.run(work)
    if as_json:
        say(found, True)
    elif as_csv:
        _write_csv(found)
    else:
        say([{**row, "details": _in_words(row["details"])} for row in found], False, "No such entry.")


def _write_csv(found: list[dict[str, Any]]) -> None:
    from wmsd.base.cells import write  # imported only here

    names = ("id", "at", "actor", "address", "action", "subject", "details")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in found:
        details = json.dumps(row["details"], ensure_ascii=False) if row["details"] else ""
        shown = {**row, "details": details}
        writer.writerow([write(shown[name]) for name in names])


def _in_words(details: dict[str, Any] | None) -> str | None:
    if details is None:
        return None
    return "; ".join(
        f"{name}: {_shown(each['before'])} -> {_shown(each['after'])}" for name, each in details.items()
    )


def _shown(value: Any) -> str:
    return "-" if value is None else json.dumps(value, ensure_ascii=False)
