"""The command `wmsd stock`, which lists stock, changes it by hand, and shows its ledger."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

import click

from wmsd.base.decimal_marks import read_typed
from wmsd.base.problems import not_found
from wmsd.base.quantity import to_text
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_option, options_of, read_company, write_company
from wmsd.interfaces.cli.records import stock_changes
from wmsd.interfaces.cli.records.stock_changes import json_number
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.similar_codes import no_such, similar_code
from wmsd.warehouse.stock import adjustments, store
from wmsd.warehouse.stock.counts import Changed
from wmsd.warehouse.stock.history import movements
from wmsd.warehouse.stock.parts import contents_of
from wmsd.warehouse.stock.rules import Change
from wmsd.warehouse.stock.schema import Adjustment, Quarantining, StockChange, StockQuery

MOST_LISTED: Final = 200
Action = Callable[..., list[Change]]


class Number(click.ParamType[Decimal]):
    """A decimal number. This class does not check bounds: the field of the model does."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        try:
            return read_typed(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.group()
def stock_command() -> None:
    """List, adjust and quarantine stock, and read its ledger."""


@stock_command.command("list")
@company_option
@click.option("--warehouse", metavar="CODE", help="Only in this warehouse.")
@click.option("--article", metavar="CODE", help="Only this article.")
@click.option(
    "--lots", is_flag=True, help="List a row for each lot and serial number, and a row for stock without them."
)
@click.option(
    "--page",
    type=click.IntRange(1, 10**9),
    default=1,
    show_default=True,
    help="Page number; page 1 has the oldest rows.",
)
@click.option(
    "--per-page", type=click.IntRange(1, MOST_LISTED), default=50, show_default=True, help="Records per page."
)
@json_option
@with_installation
def list_stock(
    command_line: CommandLine,
    code: str,
    warehouse: str | None,
    article: str | None,
    lots: bool,
    page: int,
    per_page: int,
    as_json: bool,
) -> None:
    """List how much of each article is in each warehouse.

    Reserved is the part of the quantity that open orders hold. Quarantined is the part that may not be sold. The
    remaining quantity is available.
    """

    def read(tx: Transaction) -> tuple[list[dict[str, Any]], int, int]:
        query = {"page": page, "per_page": per_page, **place_ids(tx, article, warehouse)}
        found = store.page(tx, validate_model(StockQuery, query))
        text = f"[{found.records}]"
        records: list[dict[str, Any]] = (
            json.loads(text) if as_json else json.loads(text, parse_int=str, parse_float=str)
        )
        rows = [*_parts(tx, records, as_json)] if lots else [_stock_row(record) for record in records]
        return rows, len(records), found.total

    rows, count, total = read_company(command_line, code, read)
    say(rows, as_json, "No stock matches these filters." if warehouse or article else "No stock yet.")
    if rows and count < total and not as_json:
        note(f"{count} of {total} rows, page {page}. For another page: --page N")


def _stock_row(record: dict[str, Any]) -> dict[str, Any]:
    places = {"article": record["article_code"], "warehouse": record["warehouse_code"]}
    return {**places, **{name: record[name] for name in ("quantity", "reserved", "quarantined", "available")}}


def _parts(tx: Transaction, records: list[dict[str, Any]], as_json: bool) -> Iterator[dict[str, Any]]:
    shown = json_number if as_json else to_text
    found = contents_of(tx, [int(record["id"]) for record in records])
    for record in records:
        for goods, there in found[int(record["id"])].parts.items():
            yield {
                "article": record["article_code"],
                "warehouse": record["warehouse_code"],
                **goods._asdict(),
                **{name: shown(amount) for name, amount in there._asdict().items()},
            }


def place_ids(tx: Transaction, article: str | None, warehouse: str | None) -> dict[str, int]:
    """Return the ids of the article and the warehouse with these codes, as `article_id` and `warehouse_id`.

    If a code is None, the result has no id for it. Raise Problem (404) if a code is unknown.
    """
    given = {
        "article": None if article is None else articles.id_of_code(tx, article),
        "warehouse": None if warehouse is None else directory.id_of_code(tx, directory.WAREHOUSES, warehouse),
    }
    for noun, asked in (("article", article), ("warehouse", warehouse)):
        if asked is not None and given[noun] is None:
            raise no_such(tx, noun, f"{noun}s", asked)
    return {f"{noun}_id": found for noun, found in given.items() if found is not None}


changing = options_of(
    company_option,
    click.option("--article", required=True, metavar="CODE", help="The article."),
    click.option("--warehouse", required=True, metavar="CODE", help="The warehouse."),
    click.option("--lot", "lot_number", metavar="LOT", help="To count only one lot, enter its number."),
    click.option(
        "--serial",
        "field_serials",
        multiple=True,
        metavar="SERIAL",
        help="Only the unit with this serial number; repeat the option for several.",
    ),
    click.option("--reason", required=True, metavar="TEXT", help="The reason, for the ledger."),
    click.option("--dry-run", is_flag=True, help="Check everything and show the result, but change nothing."),
    json_option,
)
"""The options of every command that changes stock by hand."""
quarantining = options_of(
    click.option("--quantity", type=Number(), metavar="N", help="The quantity."),
    click.option(
        "--all", "everything", is_flag=True, help="The whole quantity; with --lot, the whole quantity of the lot."
    ),
    changing,
)


@stock_command.command("adjust")
@click.option("--by", type=Number(), metavar="+N|-N", help="The quantity to add or remove.")
@click.option("--to", type=Number(), metavar="N", help="The new quantity.")
@changing
@with_installation
def adjust_stock(command_line: CommandLine, /, by: Decimal | None, to: Decimal | None, **given: Any) -> None:
    """Correct how much there is of an article in a warehouse.

    With --serial, the units with these serials are added (--by +2) or removed (--by -2). To remove goods that have
    a lot or a serial, give --lot or --serial. Goods that you add without these options have no lot and no serial.
    Orders keep their reservations: an adjustment that would leave less than the reserved quantity is refused.

    \b
    wmsd stock adjust --company ACME --article A --warehouse MAIN --by -2 --reason "Broken glass"
    wmsd stock adjust --company ACME --article A --warehouse MAIN --lot L1 --to 40 --reason "Found more"
    """
    if (by is None) == (to is None):
        raise click.UsageError("Give either --by (the quantity to add or remove) or --to (the new quantity).")
    _change(command_line, adjustments.adjust, Adjustment, {"by": by, "to": to}, **given)


@stock_command.command("quarantine")
@quarantining
@with_installation
def quarantine_stock(
    command_line: CommandLine, /, quantity: Decimal | None, everything: bool, **given: Any
) -> None:
    """Put goods into quarantine: they stay in stock, but may not be sold.

    Goods that orders have reserved are refused: take them out of the orders first.

    \b
    wmsd stock quarantine --company ACME --article A --warehouse MAIN --lot L1 --all --reason "Recalled"
    """
    _quarantine(command_line, adjustments.quarantine, quantity, everything, given)


@stock_command.command("release")
@quarantining
@with_installation
def release_stock(command_line: CommandLine, /, quantity: Decimal | None, everything: bool, **given: Any) -> None:
    """Release goods from quarantine: they may be sold again."""
    _quarantine(command_line, adjustments.release, quantity, everything, given)


def _quarantine(
    command_line: CommandLine, action: Action, quantity: Decimal | None, everything: bool, given: dict[str, Any]
) -> None:
    if sum((quantity is not None, bool(given["field_serials"]), everything)) != 1:
        raise click.UsageError("Give exactly one of --quantity, --serial and --all.")
    _change(command_line, action, Quarantining, {"quantity": quantity, "everything": everything}, **given)


def _change(
    command_line: CommandLine,
    action: Action,
    model: type[StockChange],
    values: dict[str, Any],
    *,
    code: str,
    article: str,
    warehouse: str,
    field_serials: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    **others: Any,
) -> None:
    def change(tx: Transaction) -> list[Changed]:
        ids = place_ids(tx, article, warehouse)
        given = {**values, **others, "serials": list(field_serials)}
        made = action(tx, ids["article_id"], ids["warehouse_id"], validate_model(model, given))
        return [Changed(article, warehouse, each) for each in made]

    made = write_company(command_line, code, change, dry_run)
    if as_json:
        say({"dry_run": dry_run, **stock_changes.as_json(made, "after")}, as_json)
    elif made:
        stock_changes.show(made, "after")
    else:
        note("Nothing was changed: the stock already is as requested.")
    if dry_run:
        note("Nothing was changed: this was a dry run.")


MOST_MOVEMENTS: Final = 1000
POSTING: Final = [kind for kind in DOCUMENTS if kind.movements]
"""The kinds of documents that move stock."""
*FIRST, LAST = (kind.table.noun for kind in POSTING)


@stock_command.command("ledger")
@company_option
@click.option("--article", metavar="CODE", help="Only this article.")
@click.option("--warehouse", metavar="CODE", help="Only in this warehouse.")
@click.option("--lot", "lot_number", metavar="LOT", help="To count only one lot, enter its number.")
@click.option("--serial", metavar="SERIAL", help="Only the unit with this serial number.")
@click.option("--document", metavar="CODE", help=f"Only movements of this {', '.join(FIRST)} or {LAST}.")
@click.option(
    "--after",
    type=click.IntRange(0),
    metavar="ID",
    help="Only movements after this movement; 0: from the first movement on.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_MOVEMENTS),
    default=50,
    show_default=True,
    help="Number of movements to list.",
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

    Each movement shows what moved and when, the document or the reason, and the user. Without --after, the latest
    movements are listed.
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
        return [_movement_row(tx, movement, as_json) for movement in found]

    rows = read_company(command_line, code, read)
    say(rows, as_json, "No movements found.")
    if len(rows) == limit and not as_json:
        more = (
            "the latest ones (--after 0 begins with the first movement)"
            if after is None
            else f"continue with --after {rows[-1]['id']}"
        )
        note(f"Listed {limit} movements: {more}.")


def _by_documents(tx: Transaction, code: str | None) -> list[dict[str, object]]:
    """Return a filter for each document with this code. The filter finds the stock movements of the document.

    Documents of different kinds may have the same code. If `code` is None, return one filter that finds every
    movement. Raise Problem (404) if no document has the code.
    """
    if code is None:
        return [{}]
    found = [(kind.table.id_of_code(tx, code), kind.movements) for kind in POSTING]
    filters = [{"document_id": document_id, "kinds": kinds} for document_id, kinds in found if document_id]
    if not filters:
        meant = next(filter(None, (similar_code(tx, kind.table.name, code) for kind in POSTING)), None)
        raise not_found(f"document as {code}", meant)
    return filters


def _movement_row(tx: Transaction, movement: dict[str, Any], as_json: bool) -> dict[str, Any]:
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
            return str(kind.table.columns(tx, movement["document_id"])["code"])
    return None
