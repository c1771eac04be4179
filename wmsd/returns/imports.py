"""Returns in bulk, by the rules of single ones."""

from typing import Any, Final

from wmsd.base.fields import Code, OptionalLabel, OptionalText, Quantity, Serials
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory.store import PARTNERS, WAREHOUSES
from wmsd.documents.codes import Codes
from wmsd.documents.imports import Checked, Document, DocumentFile, DocumentRow, one_at_a_time, one_by_one
from wmsd.returns.actions import change, create_return, move
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


def _create(tx: Transaction, made: Document) -> Record:
    body = ReturnFields.model_construct(**made.fields, code=made.code, lines=made.lines)
    record: Record = create_return.action(tx, body)
    return record


def _change(tx: Transaction, return_id: int, made: Document) -> None:
    change(tx, return_id, made.fields, made.lines)


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


def _line(row: Checked[ReturnRow], codes: Codes) -> LineFields:
    return LineFields.model_construct(**{name: getattr(row.fields, name) for name in OF_A_LINE})


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
    fields_of=_fields,
    line_of=_line,
    create=one_by_one(_create),
    change=_change,
    move=one_at_a_time(move),
)
"""A status is walked to by the moves that lead there: at FINALIZAT each line's disposition acts."""
