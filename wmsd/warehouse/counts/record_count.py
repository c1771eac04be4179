"""The count of one stock record: a count with one line, which is booked immediately."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from wmsd.base.problems import Problem, by_path, invalid, refuse_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.counts.actions import BOOKED, create_with_lines
from wmsd.warehouse.counts.count_entries import Entries, enter
from wmsd.warehouse.counts.count_posting import book
from wmsd.warehouse.counts.rules import BEGUN, FINAL
from wmsd.warehouse.counts.schema import CountFields, CountLineFields, RecordCount
from wmsd.warehouse.counts.store import COUNTS
from wmsd.warehouse.documents.document_events import move_and_emit
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.parts import UNNAMED, contents_of
from wmsd.warehouse.stock.schema import StockRecord

OF_LINE: Final = "lines.0."
COLUMNS: Final = {"counted_quantity": "quantity"}
"""The fields of a count line that have another name in `RecordCount`. The key is the name in the count line, and
the value is the name in `RecordCount`.
"""
NAME_ONE: Final = (
    "is not enough, because these goods have lots or serials: also name one lot or serial, or create a count "
    "with all lots and serials"
)
MOVED: Final = "was counted before the goods moved: count again"


@operation(
    tag="Stock",
    answer="record",
    returns=StockRecord,
    module="stock",
    ability="stock:write",
    writes=True,
    events=("count.created", *BOOKED),
    precondition=stock.one,
)
def count_stock(tx: Transaction, id: int, body: RecordCount) -> Record:
    """Count a stock record and book the difference.

    The request creates a count with one line and finishes the count immediately. For goods with lots or serials,
    name one lot or one serial.
    """
    article_id, warehouse_id = stock.place_of(tx, id)
    if body.lot_number is None and body.serial is None and set(contents_of(tx, [id])[id].parts) - {UNNAMED}:
        raise invalid({"quantity": [NAME_ONE]})
    line = CountLineFields.model_construct(None, article_id=article_id, **_said(body))
    fields = CountFields.model_construct(None, warehouse_id=warehouse_id, notes=body.reason, lines=[line])
    with _own_fields():
        count = create_with_lines(tx, fields, _checked(enter(tx, warehouse_id, [line])))
        book(tx, count.id, body.reason)
    move_and_emit(tx, COUNTS, [count.id], BEGUN, FINAL)
    return stock.one(tx, id)


def _said(body: RecordCount) -> dict[str, Any]:
    return {
        "counted_quantity": body.quantity,
        "lot_number": body.lot_number,
        "serial": body.serial,
        "seen_at": body.seen_at,
    }


def _checked(entries: Entries) -> Entries:
    if not entries.errors and entries.rows[0]["count_again"]:
        refuse_errors({"quantity": [MOVED]})
    return entries


@contextmanager
def _own_fields() -> Iterator[None]:
    """Rename the paths of errors that are raised in this context. An error at a field of the count line, such as
    `lines.0.counted_quantity`, moves to the field of this operation, such as `quantity`.
    """
    try:
        yield
    except Problem as problem:
        if not problem.errors:
            raise
        raise invalid(by_path(_renamed(problem.errors.items()))) from None


def _renamed(errors: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, str]]:
    for path, sentences in errors:
        name = path.removeprefix(OF_LINE)
        yield from ((COLUMNS.get(name, name), sentence) for sentence in sentences)
