"""`wmsd purchase-order`."""

from wmsd.interfaces.cli.documents import document_command
from wmsd.purchase_orders.kind import PURCHASE_ORDERS

purchase_order_command = document_command(PURCHASE_ORDERS)
