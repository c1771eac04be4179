"""Sales orders in bulk, by the rules of single ones."""

from collections.abc import Iterable
from typing import Any, Final

from wmsd.base.fields import Code, Date, OptionalLabel, OptionalText, Quantity, Serials
from wmsd.base.importing import Outcome, Row
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES
from wmsd.documents.imports import Checked, Codes, DocumentFile, DocumentRow
from wmsd.sales_orders.actions import change, create_sales_order
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
)
Rows = list[Checked[OrderRow]]


def import_sales_orders(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """A status is walked to by the moves that lead there, with all that they do to stock."""

    def create(order: Rows, codes: Codes) -> Record:
        fields = {**_fields(order[0], codes), "code": order[0].fields.code}
        record: Record = create_sales_order.action(
            tx, SalesOrderFields.model_construct(**fields, lines=_lines(order, codes))
        )
        return record

    FILE.take(
        tx,
        rows,
        outcome,
        create,
        lambda order_id, order, codes: change(tx, order_id, _fields(order[0], codes), _lines(order, codes)),
        lambda order_id, status: change(tx, order_id, {}, None, status),
    )


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


def _lines(rows: Rows, codes: Codes) -> list[LineFields]:
    return [
        LineFields.model_construct(
            **{name: getattr(each.fields, name) for name in OF_A_LINE},
            warehouse_id=codes.find("line_warehouse_code", each.fields.line_warehouse_code),
        )
        for each in rows
    ]
