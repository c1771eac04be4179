"""All kinds of documents."""

from typing import Final

from wmsd.documents.kind import DocumentKind
from wmsd.packaging.store import SERIES
from wmsd.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.receptions.kind import RECEPTIONS
from wmsd.returns.kind import RETURNS
from wmsd.sales_orders.kind import SALES_ORDERS

DOCUMENTS: Final[tuple[DocumentKind, ...]] = (SALES_ORDERS, PURCHASE_ORDERS, RECEPTIONS, RETURNS)

SERIES_NAMES: Final = (*(kind.table.series for kind in DOCUMENTS), SERIES)
"""The series of codes."""
