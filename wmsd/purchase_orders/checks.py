"""What purchase orders promise."""

from typing import Final

from wmsd.documents.checks import status_checks

CHECKS: Final = status_checks("purchase order", "purchase_orders", "purchase_order_counts")
