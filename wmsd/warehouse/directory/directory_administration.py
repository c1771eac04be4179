"""The operations that create and change clients, partners and warehouses in the browser. Only admins may write
warehouses.

API clients can only read these records.
"""

from collections.abc import Mapping
from functools import partial

from wmsd.base.problems import invalid, or_not_found, refuse_errors
from wmsd.contract.fields import Input
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import insert_in_order, update_in_order
from wmsd.db.sql.code_forms import form_errors
from wmsd.db.sql.statements import column_values
from wmsd.warehouse.directory import store
from wmsd.warehouse.directory.closing_rules import Holdings
from wmsd.warehouse.directory.schema import (
    Client,
    ClientChanges,
    ClientFields,
    Partner,
    PartnerChanges,
    PartnerFields,
    Warehouse,
    WarehouseChanges,
    WarehouseFields,
)
from wmsd.warehouse.directory.store import CLIENTS, PARTNERS, WAREHOUSES, DirectoryKind

of_directory = partial(operation, answer="record", writes=True)
by_partner_writers = partial(of_directory, ability="partners:write")
by_admins = partial(of_directory, role="company-admin")


@by_partner_writers(tag="Clients", returns=Client, creates=True, audited="client.create")
def create_client(tx: Transaction, body: ClientFields) -> Record:
    """Create a client."""
    return create_record(tx, CLIENTS, body)


@by_partner_writers(tag="Clients", returns=Client, precondition=CLIENTS.one, audited="client.change")
def change_client(tx: Transaction, id: int, body: ClientChanges) -> Record:
    """Change a client."""
    return change_record(tx, CLIENTS, id, body)


@by_partner_writers(tag="Partners", returns=Partner, creates=True, audited="partner.create")
def create_partner(tx: Transaction, body: PartnerFields) -> Record:
    """Create a partner."""
    return create_record(tx, PARTNERS, body)


@by_partner_writers(tag="Partners", returns=Partner, precondition=PARTNERS.one, audited="partner.change")
def change_partner(tx: Transaction, id: int, body: PartnerChanges) -> Record:
    """Change a partner."""
    return change_record(tx, PARTNERS, id, body)


@by_admins(tag="Warehouses", returns=Warehouse, creates=True, audited="warehouse.create")
def create_warehouse(tx: Transaction, body: WarehouseFields) -> Record:
    """Create a warehouse."""
    return create_record(tx, WAREHOUSES, body)


@by_admins(tag="Warehouses", returns=Warehouse, precondition=WAREHOUSES.one, audited="warehouse.change")
def change_warehouse(tx: Transaction, id: int, body: WarehouseChanges) -> Record:
    """Change a warehouse.

    A warehouse that has goods or open documents cannot be switched off.
    """
    current = store.columns(tx, WAREHOUSES, id) or {}
    refuse_errors(tx.service(Holdings).errors(tx, {**current, "id": id}, {**current, **body.given()}))
    return change_record(tx, WAREHOUSES, id, body)


def create_record(tx: Transaction, kind: DirectoryKind, body: Input) -> Record:
    columns = column_values(body.model_dump())
    _check_code(tx, kind, str(columns["code"]), None, {})
    return kind.one(tx, insert_in_order(tx, kind.table, columns))


def change_record(tx: Transaction, kind: DirectoryKind, record_id: int, body: Input) -> Record:
    """Change a record and return it. If no value differs, nothing is written."""
    current = or_not_found(store.columns(tx, kind, record_id), kind.noun)
    columns = {**current, **column_values(body.given())}
    if columns != current:
        _check_code(tx, kind, str(columns["code"]), record_id, current)
        update_in_order(tx, kind.table, record_id, columns)
    return kind.one(tx, record_id)


def _check_code(
    tx: Transaction, kind: DirectoryKind, code: str, record_id: int | None, current: Mapping[str, object]
) -> None:
    """Raise Problem (422) if another record of this kind has the code, even in another Unicode form."""
    if store.id_of_code(tx, kind, code) not in (None, record_id):
        raise invalid({"code": [f"is taken by another {kind.noun}"]})
    if errors := form_errors(tx, kind.table, kind.noun, code, current.get("code")):
        raise invalid({"code": errors})
