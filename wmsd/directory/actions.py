"""The use cases of clients, partners and warehouses. The REST interfaces only read them."""

from wmsd.base.operation import operation
from wmsd.base.problems import not_found
from wmsd.base.results import Page, Record
from wmsd.db.transaction import Transaction
from wmsd.directory import store
from wmsd.directory.schema import Client, DirectoryQuery, Partner, PartnerQuery, Warehouse
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES, DirectoryKind


@operation(tag="Clients", answer="page", returns=Client, ability="clients:read")
def list_clients(tx: Transaction, query: DirectoryQuery) -> Page:
    """List clients."""
    return store.page(tx, CLIENTS, query)


@operation(tag="Clients", answer="record", returns=Client, ability="clients:read")
def get_client(tx: Transaction, id: int) -> Record:
    """Get a client."""
    return _one(tx, CLIENTS, id)


@operation(tag="Partners", answer="page", returns=Partner, ability="partners:read")
def list_partners(tx: Transaction, query: PartnerQuery) -> Page:
    """List partners."""
    return store.page(tx, PARTNERS, query)


@operation(tag="Partners", answer="record", returns=Partner, ability="partners:read")
def get_partner(tx: Transaction, id: int) -> Record:
    """Get a partner."""
    return _one(tx, PARTNERS, id)


@operation(tag="Warehouses", answer="page", returns=Warehouse, ability="warehouses:read")
def list_warehouses(tx: Transaction, query: DirectoryQuery) -> Page:
    """List warehouses."""
    return store.page(tx, WAREHOUSES, query)


@operation(tag="Warehouses", answer="record", returns=Warehouse, ability="warehouses:read")
def get_warehouse(tx: Transaction, id: int) -> Record:
    """Get a warehouse."""
    return _one(tx, WAREHOUSES, id)


def _one(tx: Transaction, kind: DirectoryKind, record_id: int) -> Record:
    record = store.one(tx, kind, record_id)
    if record is None:
        raise not_found(kind.noun)
    return record
