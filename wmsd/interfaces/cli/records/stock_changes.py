"""The output of the changes that a count, an adjustment or a quarantine makes."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from wmsd.base.quantity import to_text
from wmsd.interfaces.cli.kit.command_line import say
from wmsd.warehouse.stock.counts import Changed

MOST_SHOWN = 50
Rows = list[dict[str, Any]]


def as_json(changed: Sequence[Changed], after: str) -> dict[str, Any]:
    """Return all changes and their sums for JSON output. `after` is the name of the field with the new
    quantity.
    """
    rows = [_row(each, after, json_number) for each in changed]
    return {"changes": rows, "sums": _sums(changed, after, json_number)}


def show(changed: Sequence[Changed], after: str) -> None:
    """Print a table with the first changes, and with the sums of all changes."""
    rows = [_row(each, after, to_text) for each in changed[:MOST_SHOWN]]
    if len(changed) > 1:
        rows.append({**dict.fromkeys(rows[0], ""), "article": "sum", **_sums(changed, after, to_text)})
    if all(each.change.before.quarantined == each.change.after.quarantined for each in changed):
        rows = [{name: cell for name, cell in row.items() if "quarantined" not in name} for row in rows]
    say(rows, False)
    if len(changed) > MOST_SHOWN:
        click.echo(f"… and {len(changed) - MOST_SHOWN} more, which are included in the sum. --json shows all.")


def _row(changed: Changed, after: str, shown: Callable[[int], Any]) -> dict[str, Any]:
    place = {"article": changed.article_code, "warehouse": changed.warehouse_code}
    return {**place, **changed.change.goods._asdict(), **_sums([changed], after, shown)}


def _sums(changed: Sequence[Changed], after: str, shown: Callable[[int], Any]) -> dict[str, Any]:
    before = sum(each.change.before.quantity for each in changed)
    now = sum(each.change.after.quantity for each in changed)
    return {
        "before": shown(before),
        after: shown(now),
        "difference": shown(now - before),
        "quarantined_before": shown(sum(each.change.before.quarantined for each in changed)),
        "quarantined": shown(sum(each.change.after.quarantined for each in changed)),
    }


def json_number(millionths: int) -> Any:
    """Return a quantity, given in millionths, as a JSON number."""
    return json.loads(to_text(millionths))
