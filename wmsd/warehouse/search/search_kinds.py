"""The kinds of records that can be found, with the columns in which wmsd searches."""

from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.packaging import actions as packaging
from wmsd.warehouse.stock import actions as stock

DOCUMENT_TEXTS: Final = ("code", "external_ref", "customer_reference", "tracking_number")
PARTNER: Final = "(SELECT name FROM partners WHERE partners.id = {table}.partner_id)"
PARTNER_OF_ORDER: Final = """(
    SELECT partners.name FROM purchase_orders JOIN partners ON partners.id = partner_id
    WHERE purchase_orders.id = purchase_order_id
)"""


@dataclass(frozen=True, slots=True)
class SearchKind:
    """A kind of record that can be found. `name` is the name of its list in the browser. A caller who may not use
    the operation `listing` cannot find records of this kind.
    """

    name: str
    mark: str
    """The letter that identifies the kind in the index."""
    listing: Operation
    table: str
    texts: tuple[str, ...]
    """The columns that are searched."""
    says: str
    """The SQL of the text that is shown beside the code of a record, such as the partner's name."""
    status: str = "NULL"
    of: Operation | None = None
    """The operation that lists the records from which the text `says` comes, such as partners. None if `says`
    comes from the found record itself.
    """


WAREHOUSE: Final = "(SELECT name FROM warehouses WHERE warehouses.id = {table}.warehouse_id)"


def _beside(table: DocumentTable) -> tuple[str, Operation]:
    """Return the SQL of the name that is shown beside a document: the name of its partner or its warehouse. Also
    return the operation that lists partners or warehouses.
    """
    if "partner_id" in table.fields:
        return PARTNER.format(table=table.name), directory.list_partners
    if "purchase_order_id" in table.fields:
        return PARTNER_OF_ORDER, directory.list_partners
    return WAREHOUSE.format(table=table.name), directory.list_warehouses


def _of_documents() -> tuple[SearchKind, ...]:
    kinds = []
    for kind, mark in zip(DOCUMENTS, "SPRTI", strict=True):
        table = kind.table
        texts = tuple(name for name in DOCUMENT_TEXTS if name in table.fields)
        says, of = _beside(table)
        kinds.append(SearchKind(kind.name, mark, kind.reading.by_page, table.name, texts, says, "status", of=of))
    return tuple(kinds)


NAMED: Final = ("code", "name")
RECORDS: Final = (
    *_of_documents(),
    SearchKind(
        "articles",
        "A",
        articles.list_articles,
        "articles",
        (*NAMED, "external_ref", "barcode", "barcodes"),
        "name",
    ),
    SearchKind("partners", "N", directory.list_partners, "partners", NAMED, "name"),
    SearchKind("clients", "C", directory.list_clients, "clients", NAMED, "name"),
    SearchKind("warehouses", "W", directory.list_warehouses, "warehouses", NAMED, "name"),
    SearchKind("packaging-types", "K", packaging.walk_packaging_types, "packaging_types", NAMED, "name"),
)


@dataclass(frozen=True, slots=True)
class PartKind:
    """Lots or serials, as a kind of record that can be found. Their numbers are in the column `column` of the
    stock ledger. Each lot or serial belongs to an article.
    """

    name: str
    mark: str
    listing: Operation
    column: str
    of: Operation | None = articles.list_articles


PARTS: Final = (
    PartKind("lots", "L", stock.list_stock, "lot_number"),
    PartKind("serials", "U", stock.list_stock, "serial"),
)
KINDS: Final[tuple[SearchKind | PartKind, ...]] = (*RECORDS, *PARTS)
BY_NAME: Final = {kind.name: kind for kind in KINDS}
