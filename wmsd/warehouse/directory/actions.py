"""The operations that read clients, partners and warehouses. All interfaces have these operations."""

from wmsd.contract.list_queries import IdsQuery
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory import store
from wmsd.warehouse.directory.schema import (
    Client,
    DirectoryCursorQuery,
    DirectoryQuery,
    Partner,
    PartnerCursorQuery,
    PartnerQuery,
    Warehouse,
)
from wmsd.warehouse.directory.store import CLIENTS, PARTNERS, WAREHOUSES


@operation(tag="Clients", answer="page", returns=Client, ability="clients:read")
def list_clients(tx: Transaction, query: DirectoryQuery) -> Page:
    """List clients."""
    return store.page(tx, CLIENTS, query)


@operation(tag="Clients", answer="cursor", returns=Client, ability="clients:read")
def walk_clients(tx: Transaction, query: DirectoryCursorQuery, position: int) -> CursorPage:
    """List clients by cursor."""
    return store.after(tx, CLIENTS, query, position)


@operation(tag="Clients", answer="records", returns=Client, ability="clients:read")
def find_clients(tx: Transaction, query: IdsQuery) -> Records:
    """Find clients by their ids."""
    return store.find(tx, CLIENTS, query)


@operation(tag="Clients", answer="record", returns=Client, ability="clients:read")
def get_client(tx: Transaction, id: int) -> Record:
    """Get a client."""
    return CLIENTS.one(tx, id)


@operation(tag="Partners", answer="page", returns=Partner, ability="partners:read")
def list_partners(tx: Transaction, query: PartnerQuery) -> Page:
    """List partners."""
    return store.page(tx, PARTNERS, query)


@operation(tag="Partners", answer="cursor", returns=Partner, ability="partners:read")
def walk_partners(tx: Transaction, query: PartnerCursorQuery, position: int) -> CursorPage:
    """List partners by cursor."""
    return store.after(tx, PARTNERS, query, position)


@operation(tag="Partners", answer="records", returns=Partner, ability="partners:read")
def find_partners(tx: Transaction, query: IdsQuery) -> Records:
    """Find partners by their ids."""
    return store.find(tx, PARTNERS, query)


@operation(tag="Partners", answer="record", returns=Partner, ability="partners:read")
def get_partner(tx: Transaction, id: int) -> Record:
    """Get a partner."""
    return PARTNERS.one(tx, id)


@operation(tag="Warehouses", answer="page", returns=Warehouse, ability="warehouses:read")
def list_warehouses(tx: Transaction, query: DirectoryQuery) -> Page:
    """List warehouses."""
    return store.page(tx, WAREHOUSES, query)


@operation(tag="Warehouses", answer="cursor", returns=Warehouse, ability="warehouses:read")
def walk_warehouses(tx: Transaction, query: DirectoryCursorQuery, position: int) -> CursorPage:
    """List warehouses by cursor."""
    return store.after(tx, WAREHOUSES, query, position)


@operation(tag="Warehouses", answer="records", returns=Warehouse, ability="warehouses:read")
def find_warehouses(tx: Transaction, query: IdsQuery) -> Records:
    """Find warehouses by their ids."""
    return store.find(tx, WAREHOUSES, query)


@operation(tag="Warehouses", answer="record", returns=Warehouse, ability="warehouses:read")
def get_warehouse(tx: Transaction, id: int) -> Record:
    """Get a warehouse."""
    return WAREHOUSES.one(tx, id)
