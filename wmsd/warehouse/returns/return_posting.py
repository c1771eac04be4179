"""The effects of finalising a return: goods enter the stock and the ledger, depending on the dispositions of their
lines.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from wmsd.base.quantity import SCALE
from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.stock_obstacles import Incoming, overfull
from wmsd.warehouse.returns.return_validation import Row
from wmsd.warehouse.returns.rules import DISPOSITIONS
from wmsd.warehouse.returns.store import RETURN_LINES, RETURNS
from wmsd.warehouse.stock import lots
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.stock_ledger import Movement, post_all

KIND: Final = "return"


def post_return(tx: Transaction, return_id: int) -> None:
    """Post the goods to stock according to their dispositions. Raise Problem (422) if a disposition is missing, if
    a balance would be too large, or if a serial is already in stock.
    """
    warehouse_id = RETURNS.columns(tx, return_id)["warehouse_id"]
    rows = RETURN_LINES.of(tx, return_id)
    refuse_field_errors(_undecided(rows))
    stock_ids = stock.ids_in(tx, warehouse_id, (row["article_id"] for row in rows))
    incoming = [
        Incoming(f"lines.{number}.quantity", stock_ids[row["article_id"]], row["quantity"] * _enters(row))
        for number, row in enumerate(rows)
    ]
    refuse_field_errors([*overfull(tx, incoming), *_there_already(tx, rows)])
    post_all(tx, [*_movements(return_id, rows, stock_ids)])


def _undecided(rows: Sequence[Row]) -> Iterator[FieldError]:
    for number, row in enumerate(rows):
        if row["disposition"] is None:
            sentence = f"is required to finish a return: choose one of {', '.join(DISPOSITIONS)}"
            yield invalid_field(f"lines.{number}.disposition", sentence)


def _enters(row: Row) -> int:
    """Return 1 if the goods of the line enter stock, else 0."""
    return DISPOSITIONS[row["disposition"]][0]


def _there_already(tx: Transaction, rows: Sequence[Row]) -> Iterator[FieldError]:
    for number, row in enumerate(rows):
        if not _enters(row):
            continue
        names = json.loads(row["serials"] or "[]")
        there = lots.serials(tx, row["article_id"], names)
        for place, name in enumerate(names):
            if name in there:
                yield invalid_field(f"lines.{number}.serials.{place}", "is in stock already")


def _movements(return_id: int, rows: Sequence[Row], stock_ids: dict[int, int]) -> Iterator[tuple[int, Movement]]:
    """Yield the movements of the lines, each with the id of its stock record. A line with serials has one movement
    for each serial. Any other line has one movement.
    """
    for row in rows:
        enters, quarantined, destroyed = DISPOSITIONS[row["disposition"]]
        serials = json.loads(row["serials"] or "[null]")
        for serial in serials:
            amount = row["quantity"] if serial is None else SCALE
            yield (
                stock_ids[row["article_id"]],
                Movement(
                    amount * enters,
                    kind=KIND,
                    quarantined=amount * quarantined,
                    destroyed=amount * destroyed,
                    lot_number=row["lot_number"],
                    serial=serial,
                    document_id=return_id,
                    document_line_id=row["id"],
                    reason=row["disposition"],
                ),
            )
