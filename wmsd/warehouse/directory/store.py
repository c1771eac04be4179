"""The SQL of clients, partners, warehouses and all further kinds of records with a code that people choose.

These kinds differ only in their columns, so this module serves all of them.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.contract.fields import Input
from wmsd.contract.list_queries import CursorQuery, IdsQuery, PageQuery, Query
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import check_fields_are_read, record_sql
from wmsd.warehouse.directory.schema import (
    Client,
    ClientFields,
    DirectoryFilters,
    Partner,
    PartnerFields,
    PartnerFilters,
    Warehouse,
    WarehouseFields,
)


@dataclass(frozen=True)
class DirectoryKind:
    noun: str
    table: str
    fields: type[Input]
    model: type[BaseModel]
    filters: type[Query]

    def __post_init__(self) -> None:
        check_fields_are_read(self.fields, self.model)

    @cached_property
    def record(self) -> str:
        return record_sql(self.model)

    @cached_property
    def listing(self) -> Listing:
        since = "change_seq > :updated_since"
        return Listing(self.table, "id", conditions(self.filters, updated_since=since), self.table)

    def one(self, tx: Transaction, id: int) -> Record:
        """Return the record. Raise Problem (404) if no record has the id."""
        text = tx.value(f"SELECT {self.record} FROM {self.table} WHERE id = ?", (id,))
        return Record(id, or_not_found(text, self.noun))

    def shown_fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Convert a stored row to a request body: return the fields that a caller may set."""
        fields = {name: row[name] for name in self.fields.model_fields}
        address = fields["address"]
        return {
            **fields,
            "active": bool(fields["active"]),
            "address": None if address is None else json.loads(address),
        }


CLIENTS: Final = DirectoryKind("client", "clients", ClientFields, Client, DirectoryFilters)
PARTNERS: Final = DirectoryKind("partner", "partners", PartnerFields, Partner, PartnerFilters)
WAREHOUSES: Final = DirectoryKind("warehouse", "warehouses", WarehouseFields, Warehouse, DirectoryFilters)


def page(tx: Transaction, kind: DirectoryKind, query: PageQuery) -> Page:
    return kind.listing.page(tx, kind.record, query, query.filters())


def after(tx: Transaction, kind: DirectoryKind, query: CursorQuery, position: int) -> CursorPage:
    return kind.listing.after(tx, kind.record, query, position, query.filters())


def find(tx: Transaction, kind: DirectoryKind, query: IdsQuery) -> Records:
    return kind.listing.of(tx, kind.record, "id", query.ids)


def by_code(tx: Transaction, kind: DirectoryKind, code: str) -> dict[str, Any] | None:
    return tx.record(f"SELECT * FROM {kind.table} WHERE code = ?", (code,))


def columns(tx: Transaction, kind: DirectoryKind, record_id: int) -> dict[str, Any] | None:
    """Return the columns that a caller may set, as they are stored. Return None if no record has the id."""
    return tx.record(f"SELECT {', '.join(kind.fields.model_fields)} FROM {kind.table} WHERE id = ?", (record_id,))


def id_of_code(tx: Transaction, kind: DirectoryKind, code: str) -> int | None:
    return tx.find_number(f"SELECT id FROM {kind.table} WHERE code = ?", (code,))


def ids_by_code(tx: Transaction, kind: DirectoryKind) -> dict[str, int]:
    return dict(tx.rows(f"SELECT code, id FROM {kind.table}"))


def codes_by_id(tx: Transaction, kind: DirectoryKind) -> dict[int, str]:
    return dict(tx.rows(f"SELECT id, code FROM {kind.table}"))


def every(tx: Transaction, kind: DirectoryKind) -> Iterator[str]:
    """Yield every record as JSON text, for exports."""
    return (row[0] for row in tx.execute(f"SELECT {kind.record} FROM {kind.table} ORDER BY id"))


def exists(tx: Transaction, kind: DirectoryKind, record_id: int) -> bool:
    return tx.value(f"SELECT 1 FROM {kind.table} WHERE id = ?", (record_id,)) is not None


def is_active(tx: Transaction, kind: DirectoryKind, record_id: int) -> bool | None:
    """Return True if the record is active, False if it is not, or None if no record has the id."""
    active = tx.value(f"SELECT active FROM {kind.table} WHERE id = ?", (record_id,))
    return None if active is None else bool(active)
