"""The records of a company that the pages list and show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from wmsd.app.kinds import DOCUMENTS
from wmsd.articles import actions as articles
from wmsd.base.operation import Operation
from wmsd.base.problems import not_found
from wmsd.directory import actions as directory
from wmsd.documents.kind import DocumentKind
from wmsd.interfaces.pages.fields import REFERRING, Field, fields_of
from wmsd.outbox import actions as outbox
from wmsd.packaging import actions as packaging
from wmsd.stock import actions as stock


@dataclass(frozen=True, slots=True)
class Resource:
    """`listing` lists it by page or by cursor, `walking` by cursor, for files. `columns` are those of the
    list: fields, and references without their `_id`.
    """

    name: str
    """In addresses."""
    title: str
    listing: Operation
    walking: Operation
    columns: tuple[str, ...]
    one: Operation | None = None
    key: str = "code"
    """The column that leads to the record."""
    sort: str = "code"
    """The order that people expect, if it can be ordered."""

    @property
    def model(self) -> type[BaseModel]:
        assert self.listing.returns is not None
        return self.listing.returns

    @property
    def fields(self) -> Mapping[str, Field]:
        return fields_of(self.model)

    @property
    def listed(self) -> list[Field]:
        """The fields of the list."""
        return [self.fields.get(name) or self.fields[f"{name}_id"] for name in self.columns]


def _of_documents(kind: DocumentKind) -> Resource:
    table, reading = kind.table, kind.reading
    title = f"{table.noun}s".capitalize()
    return Resource(
        table.name.replace("_", "-"),
        title,
        reading.by_page,
        reading.by_cursor,
        kind.listed,
        reading.one,
        sort="-id",
    )


DIRECTORY: Final = ("code", "name", "active", "updated_at")
RESOURCES: Final = (
    *map(_of_documents, DOCUMENTS),
    Resource(
        "stock",
        "Stock",
        stock.list_stock,
        stock.walk_stock,
        ("article", "warehouse", "quantity", "reserved", "quarantined", "available", "updated_at"),
        key="article",
        sort="id",
    ),
    Resource(
        "articles",
        "Articles",
        articles.list_articles,
        articles.walk_articles,
        ("code", "name", "unit", "barcode", "min_stock", "active", "updated_at"),
        articles.get_article,
    ),
    Resource(
        "packaging",
        "Packaging",
        packaging.walk_packaging_balances,
        packaging.walk_packaging_balances,
        ("packaging_type_code", "packaging_type_name", "partner", "quantity", "updated_at"),
        key="packaging_type_code",
    ),
    Resource(
        "packaging-movements",
        "Packaging movements",
        packaging.walk_packaging_movements,
        packaging.walk_packaging_movements,
        ("code", "packaging_type_code", "partner", "direction", "quantity", "occurred_at", "notes"),
    ),
    Resource(
        "partners",
        "Partners",
        directory.list_partners,
        directory.walk_partners,
        ("code", "name", "type", "active", "updated_at"),
        directory.get_partner,
    ),
    Resource(
        "clients", "Clients", directory.list_clients, directory.walk_clients, DIRECTORY, directory.get_client
    ),
    Resource(
        "warehouses",
        "Warehouses",
        directory.list_warehouses,
        directory.walk_warehouses,
        DIRECTORY,
        directory.get_warehouse,
    ),
    Resource(
        "events",
        "Events",
        outbox.list_events,
        outbox.list_events,
        ("timestamp", "event", "entity_id", "id"),
        key="id",
    ),
)
BY_NAME: Final = {resource.name: resource for resource in RESOURCES}
REFERRED: Final = {
    id_field: resource
    for id_field, reference in REFERRING.items()
    for resource in RESOURCES
    if resource.one is not None and resource.model is reference.find.returns
}
"""The resource that a field refers to."""


def resource_of(name: str) -> Resource:
    """Raises Problem (404)."""
    if name not in BY_NAME:
        raise not_found("page")
    return BY_NAME[name]
