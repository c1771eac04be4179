"""`wmsd sales-order`."""

from wmsd.interfaces.cli.documents import CLIENT, PARTNER, WAREHOUSE, DocumentKind, document_command
from wmsd.interfaces.cli.moved_packaging import packaging_option, with_packaging
from wmsd.sales_orders.actions import change
from wmsd.sales_orders.rules import LOADED, MOVES, STATUSES
from wmsd.sales_orders.schema import SalesOrderQuery
from wmsd.sales_orders.store import ORDERS

sales_order_command = document_command(
    DocumentKind(
        table=ORDERS,
        moves=MOVES,
        statuses=STATUSES,
        query=SalesOrderQuery,
        references={"partner": PARTNER, "client": CLIENT, "warehouse": WAREHOUSE},
        filters=("partner",),
        columns=("code", "status", "partner", "lines", "external_ref", "requested_date", "updated_at"),
        move=with_packaging(change),
        move_options=(packaging_option(f"goes out to the partner with the move to {LOADED}"),),
    )
)
