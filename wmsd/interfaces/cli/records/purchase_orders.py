"""The command `wmsd purchase-order`."""

from wmsd.interfaces.cli.records.document_commands import document_command
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS

purchase_order_command = document_command(PURCHASE_ORDERS)
