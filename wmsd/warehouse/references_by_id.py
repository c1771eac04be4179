"""The fields by which records refer to other records, for interfaces that can show a record with these records."""

from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.document_kinds import DOCUMENTS


@dataclass(frozen=True, slots=True)
class Reference:
    """A field `name` that shows the record whose id is in the field `id_field`: `article` for `article_id`.

    `find` is the operation that finds records by ids. One call finds all records that an answer refers to.
    """

    name: str
    id_field: str
    find: Operation


REFERENCES: Final[tuple[Reference, ...]] = (
    Reference("article", "article_id", articles.find_articles),
    Reference("partner", "partner_id", directory.find_partners),
    Reference("client", "client_id", directory.find_clients),
    Reference("warehouse", "warehouse_id", directory.find_warehouses),
    *(
        Reference(kind.table.entity, f"{kind.table.entity}_id", kind.reading.by_ids)
        for kind in DOCUMENTS
        if any(kind.table is referred for other in DOCUMENTS for referred in other.table.references.values())
    ),
)
"""All references. In such an interface, a record with the field `id_field` also has the field `name`."""
