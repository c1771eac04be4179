"""`wmsd purchase-order`."""

from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.interfaces.cli.documents import PARTNER, WAREHOUSE, DocumentKind, document_command
from wmsd.purchase_orders.actions import change
from wmsd.purchase_orders.rules import BY_HAND, STATUSES, Status
from wmsd.purchase_orders.schema import PurchaseOrderQuery
from wmsd.purchase_orders.store import ORDERS


def _move(tx: Transaction, order_id: int, status: Status) -> Record:
    return change(tx, order_id, {}, None, status)


purchase_order_command = document_command(
    DocumentKind(
        table=ORDERS,
        moves=BY_HAND,
        statuses=STATUSES,
        query=PurchaseOrderQuery,
        references={"partner": PARTNER, "warehouse": WAREHOUSE},
        filters=("partner",),
        columns=("code", "status", "partner", "items", "external_ref", "expected_date", "updated_at"),
        move=_move,
    )
)
