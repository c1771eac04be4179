"""The declaration of sales orders as a kind of document."""

from typing import Final

from wmsd.warehouse.documents.kind import Document, DocumentKind, InFiles, Posting, Writing
from wmsd.warehouse.sales_orders import actions
from wmsd.warehouse.sales_orders.create import create_orders
from wmsd.warehouse.sales_orders.effects import MOVED
from wmsd.warehouse.sales_orders.rules import HOLDS_STOCK, SHIPPED, TRANSITIONS
from wmsd.warehouse.sales_orders.schema import SalesOrderLineFields
from wmsd.warehouse.sales_orders.store import ORDERS


def _goes_alone(order: Document) -> bool:
    """Return True if the order must be created alone, and not together with the other orders of a file.

    This has two reasons. If the order is cancelled, it releases stock that later orders may use. If it names lots
    or serials, their availability depends on the orders before it.
    """
    return order.status == "ANULAT" or any(line.lot_number or line.serials for line in order.lines or ())


SALES_ORDERS: Final = DocumentKind(
    table=ORDERS,
    transitions=TRANSITIONS,
    listed=("code", "status", "partner", "lines", "external_ref", "requested_date", "updated_at"),
    reading=actions.READING,
    writing=Writing(
        actions.create_sales_order,
        actions.replace_sales_order,
        actions.update_sales_order,
        (actions.change_sales_order_status,),
    ),
    change=actions.apply_order_change,
    in_files=InFiles(
        line=SalesOrderLineFields,
        create=lambda tx, _, bodies: create_orders(tx, bodies),
        move=actions.move,
        goes_alone=_goes_alone,
    ),
    posting=Posting(MOVED, SHIPPED, amount="-quantity"),
    reserves_in=HOLDS_STOCK,
)
