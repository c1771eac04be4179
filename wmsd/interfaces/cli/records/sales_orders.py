"""The command `wmsd sales-order`."""

from wmsd.interfaces.cli.records.document_commands import document_command, with_packaging
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS
from wmsd.warehouse.sales_orders.rules import LOADED

sales_order_command = document_command(
    SALES_ORDERS, *with_packaging(SALES_ORDERS.change, f"goes out to the partner with the move to {LOADED}")
)
