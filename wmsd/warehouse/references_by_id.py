"""Declares the fields that contain the id of a related record. Some interfaces can show the related record
itself.
"""

from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.document_kinds import DOCUMENTS


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that contains the id of a related record. `id_field` is the name of this field, such as
    `article_id`. Some interfaces show the related record in the field `name`, such as `article`.

    `find` is the operation that finds records by ids. One call finds the related records of all records in an
    answer.
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
"""All fields that contain the id of a related record."""
