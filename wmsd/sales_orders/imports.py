"""Sales orders in bulk, by the rules of single ones."""

from collections.abc import Sequence
from typing import Any, Final

from wmsd.base.fields import Code, Date, OptionalLabel, OptionalText, Quantity, Serials
from wmsd.db.transaction import Transaction
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES
from wmsd.documents.codes import Codes
from wmsd.documents.imports import Checked, Document, DocumentFile, DocumentRow
from wmsd.sales_orders.actions import change, move
from wmsd.sales_orders.creating import Made, create
from wmsd.sales_orders.rules import MOVES, Status
from wmsd.sales_orders.schema import MAX_LINES, LineFields, SalesOrderFields
from wmsd.sales_orders.store import ORDERS


class OrderRow(DocumentRow):
    status: Status | None = None
    partner_code: Code
    warehouse_code: Code
    client_code: Code | None = None
    requested_date: Date | None = None
    notes: OptionalText = None
    article_code: Code
    quantity: Quantity
    line_warehouse_code: Code | None = None
    lot_number: OptionalLabel = None
    serials: Serials | None = None


OF_A_LINE: Final = ("article_code", "quantity", "lot_number", "serials")


def _create(tx: Transaction, orders: Sequence[Document]) -> list[Made]:
    return create(
        tx,
        [SalesOrderFields.model_construct(**order.fields, code=order.code, lines=order.lines) for order in orders],
    )


def _goes_alone(order: Document) -> bool:
    """What one that is cancelled gives back, those after it may take; which lots are there, the others say."""
    return order.status == "ANULAT" or any(line.lot_number or line.serials for line in order.lines)


def _change(tx: Transaction, order_id: int, order: Document) -> None:
    change(tx, order_id, order.fields, order.lines)


def _fields(first: Checked[OrderRow], codes: Codes) -> dict[str, Any]:
    """The order's fields that the file has; columns that are not there stay as they are."""
    row = first.fields
    fields: dict[str, Any] = {
        "partner_id": codes.find("partner_code", row.partner_code),
        "warehouse_id": codes.find("warehouse_code", row.warehouse_code),
    }
    if "client_code" in first.sent:
        fields["client_id"] = codes.find("client_code", row.client_code)
    for name in ("external_ref", "requested_date", "notes"):
        if name in first.sent:
            fields[name] = getattr(row, name)
    return fields


def _line(row: Checked[OrderRow], codes: Codes) -> LineFields:
    return LineFields.model_construct(
        **{name: getattr(row.fields, name) for name in OF_A_LINE},
        warehouse_id=codes.find("line_warehouse_code", row.fields.line_warehouse_code),
    )


FILE: Final = DocumentFile(
    ORDERS,
    MOVES,
    OrderRow,
    of_a_line=("line_warehouse_code", *OF_A_LINE),
    required=("partner_code", "warehouse_code", "article_code", "quantity"),
    references={
        "partner_code": PARTNERS,
        "warehouse_code": WAREHOUSES,
        "client_code": CLIENTS,
        "line_warehouse_code": WAREHOUSES,
    },
    lines="lines",
    most_lines=MAX_LINES,
    columns={
        "partner_id": "partner_code",
        "warehouse_id": "warehouse_code",
        "client_id": "client_code",
        "lines.warehouse_id": "line_warehouse_code",
        "lines.article_id": "article_code",
    },
    fields_of=_fields,
    line_of=_line,
    create=_create,
    change=_change,
    move=move,
    goes_alone=_goes_alone,
)
"""A status is walked to by the moves that lead there, with all that they do to stock."""
