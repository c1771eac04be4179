"""`wmsd stock ledger`."""

from typing import Any, Final

import click

from wmsd.base.problems import Problem
from wmsd.base.quantity import to_text
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_option, read_company
from wmsd.interfaces.cli.records.stock_changes import json_number
from wmsd.interfaces.cli.records.stock_list import place_ids, stock_command
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.similar_codes import similar_code
from wmsd.warehouse.stock.history import movements

MOST_SHOWN: Final = 1000
POSTING: Final = [kind for kind in DOCUMENTS if kind.movements]
"""The kinds of documents that move stock."""
*FIRST, LAST = (kind.table.noun for kind in POSTING)


@stock_command.command("ledger")
@company_option
@click.option("--article", metavar="CODE", help="Only of this article.")
@click.option("--warehouse", metavar="CODE", help="Only in this warehouse.")
@click.option("--lot", "lot_number", metavar="LOT", help="Only of this lot.")
@click.option("--serial", metavar="SERIAL", help="Only of the unit with this serial.")
@click.option("--document", metavar="CODE", help=f"Only by this {', '.join(FIRST)} or {LAST}.")
@click.option(
    "--after", type=click.IntRange(0), metavar="ID", help="Only after this movement; 0: from the first on."
)
@click.option(
    "--limit", type=click.IntRange(1, MOST_SHOWN), default=50, show_default=True, help="At most so many movements."
)
@json_option
@with_installation
def show_ledger(
    command_line: CommandLine,
    code: str,
    article: str | None,
    warehouse: str | None,
    lot_number: str | None,
    serial: str | None,
    document: str | None,
    after: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show the movements of stock, the newest last.

    Each movement says what moved and when, by which document or why, and who did it. Without --after these are the
    latest movements.
    """

    def read(tx: Transaction) -> list[dict[str, Any]]:
        named = {"lot_number": lot_number, "serial": serial}
        filters: dict[str, object] = {name: value for name, value in named.items() if value is not None}
        filters |= place_ids(tx, article, warehouse)
        found = [
            movement
            for by_document in _by_documents(tx, document)
            for movement in movements(tx, {**filters, **by_document}, after, limit)
        ]
        found.sort(key=lambda movement: int(movement["id"]))
        found = found[-limit:] if after is None else found[:limit]
        return [_row(tx, movement, as_json) for movement in found]

    rows = read_company(command_line, code, read)
    say(rows, as_json, "No such movement.")
    if len(rows) == limit and not as_json:
        more = (
            "the latest; --after 0 begins with the first"
            if after is None
            else f"more with --after {rows[-1]['id']}"
        )
        note(f"{limit} movements: {more}.")


def _by_documents(tx: Transaction, code: str | None) -> list[dict[str, object]]:
    """The filters for the movements of all documents with this code, of any kind."""
    if code is None:
        return [{}]
    found = [(kind.table.id_of_code(tx, code), kind.movements) for kind in POSTING]
    filters = [{"document_id": document_id, "kinds": kinds} for document_id, kinds in found if document_id]
    if not filters:
        meant = next(filter(None, (similar_code(tx, kind.table.name, code) for kind in POSTING)), None)
        did_you_mean = "" if meant is None else f" Did you mean {meant}?"
        raise Problem("NOT_FOUND", f"There is no such document as {code}.{did_you_mean}")
    return filters


def _row(tx: Transaction, movement: dict[str, Any], as_json: bool) -> dict[str, Any]:
    shown = json_number if as_json else to_text
    return {
        "id": movement["id"],
        "when": movement["occurred_at"],
        "kind": movement["kind"],
        "article": movement["article"],
        "warehouse": movement["warehouse"],
        "quantity": shown(movement["quantity"]),
        "quarantined": shown(movement["quarantined"]),
        "destroyed": shown(movement["destroyed"]),
        "lot_number": movement["lot_number"],
        "serial": movement["serial"],
        "document": _document(tx, movement),
        "reason": movement["reason"],
        "who": movement["actor"],
    }


def _document(tx: Transaction, movement: dict[str, Any]) -> str | None:
    for kind in POSTING:
        if movement["kind"] in kind.movements and movement["document_id"] is not None:
            code: str = kind.table.columns(tx, movement["document_id"])["code"]
            return code
    return None
