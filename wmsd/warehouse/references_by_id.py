"""Declares the fields that have the ids of other records. Some interfaces can show these other records together
with the first record.
"""

from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.document_kinds import DOCUMENTS


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that refers to another record. `id_field` is the name of the field with the other record's id, such
    as `article_id`. In some interfaces, the field `name` shows the other record, such as `article`.

    `find` is the operation that finds records by ids. One call finds all records to which the records of an answer
    refer.
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
"""All fields that refer to other records."""
