"""All kinds of documents."""

from typing import Final

from wmsd.warehouse.counts.kind import COUNTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.packaging.store import SERIES
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.receptions.kind import RECEPTIONS
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS

DOCUMENTS: Final[tuple[DocumentKind, ...]] = (SALES_ORDERS, PURCHASE_ORDERS, RECEPTIONS, RETURNS, COUNTS)

SERIES_NAMES: Final = (*(kind.table.series for kind in DOCUMENTS), SERIES)
"""The names of all series of codes. Each document kind has a series, and packaging movements have a series."""
