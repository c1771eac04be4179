"""Returns in bulk, by the rules of single ones."""

from collections.abc import Iterable
from typing import Any, Final

from wmsd.base.fields import Code, OptionalLabel, OptionalText, Quantity, Serials
from wmsd.base.importing import Outcome, Row
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory.store import PARTNERS, WAREHOUSES
from wmsd.documents.imports import Checked, Codes, DocumentFile, DocumentRow
from wmsd.returns.actions import change, create_return
from wmsd.returns.rules import MOVES, Disposition, Status
from wmsd.returns.schema import MAX_LINES, LineFields, ReturnFields
from wmsd.returns.store import RETURNS
from wmsd.sales_orders.store import ORDERS


class ReturnRow(DocumentRow):
    status: Status | None = None
    partner_code: Code
    warehouse_code: Code
    sales_order_code: Code | None = None
    reason: OptionalText = None
    notes: OptionalText = None
    article_code: Code
    quantity: Quantity
    disposition: Disposition | None = None
    lot_number: OptionalLabel = None
    serials: Serials | None = None


OF_A_LINE: Final = ("article_code", "quantity", "disposition", "lot_number", "serials")
FILE: Final = DocumentFile(
    RETURNS,
    MOVES,
    ReturnRow,
    of_a_line=OF_A_LINE,
    required=("partner_code", "warehouse_code", "article_code", "quantity"),
    references={"partner_code": PARTNERS, "warehouse_code": WAREHOUSES, "sales_order_code": ORDERS},
    lines="lines",
    most_lines=MAX_LINES,
    columns={
        "partner_id": "partner_code",
        "warehouse_id": "warehouse_code",
        "sales_order_id": "sales_order_code",
        "lines.article_id": "article_code",
    },
)
Rows = list[Checked[ReturnRow]]


def import_returns(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """A status is walked to by the moves that lead there: at FINALIZAT each line's disposition acts."""

    def create(made: Rows, codes: Codes) -> Record:
        fields = {**_fields(made[0], codes), "code": made[0].fields.code}
        record: Record = create_return.action(tx, ReturnFields.model_construct(**fields, lines=_lines(made)))
        return record

    FILE.take(
        tx,
        rows,
        outcome,
        create,
        lambda return_id, made, codes: change(tx, return_id, _fields(made[0], codes), _lines(made)),
        lambda return_id, status: change(tx, return_id, {}, None, status),
    )


def _fields(first: Checked[ReturnRow], codes: Codes) -> dict[str, Any]:
    """The return's fields that the file has; columns that are not there stay as they are."""
    row = first.fields
    fields: dict[str, Any] = {
        "partner_id": codes.find("partner_code", row.partner_code),
        "warehouse_id": codes.find("warehouse_code", row.warehouse_code),
    }
    if "sales_order_code" in first.sent:
        fields["sales_order_id"] = codes.find("sales_order_code", row.sales_order_code)
    for name in ("external_ref", "reason", "notes"):
        if name in first.sent:
            fields[name] = getattr(row, name)
    return fields


def _lines(rows: Rows) -> list[LineFields]:
    return [
        LineFields.model_construct(**{name: getattr(each.fields, name) for name in OF_A_LINE}) for each in rows
    ]
