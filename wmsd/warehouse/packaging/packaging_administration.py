"""What people do with packaging types at the pages, and how movements are told there. Programs only read them."""

import json
from functools import partial

from wmsd.base.problems import invalid
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.schema import (
    PackagingMovementQuery,
    PackagingMovementTold,
    PackagingType,
    PackagingTypeChanges,
    PackagingTypeFields,
)

of_packaging = partial(operation, tag="Packaging", module="stock")
of_types = partial(of_packaging, answer="record", returns=PackagingType)
by_admins = partial(of_types, role="company-admin", writes=True)


@of_types(ability="stock:read")
def get_packaging_type(tx: Transaction, id: int) -> Record:
    """Get a packaging type."""
    return store.type_record(tx, id)


@by_admins(creates=True, audited="packaging_type.create")
def create_packaging_type(tx: Transaction, body: PackagingTypeFields) -> Record:
    """Create a packaging type."""
    _check_code(tx, body.code, None)
    return store.type_record(tx, store.insert_type(tx, body.code, body.name))


@by_admins(precondition=store.type_record, audited="packaging_type.change")
def change_packaging_type(tx: Transaction, id: int, body: PackagingTypeChanges) -> Record:
    """Change a packaging type. When nothing differs, nothing is written."""
    shown = json.loads(store.type_record(tx, id).json)
    current = {"code": shown["code"], "name": shown["name"]}
    changed = {**current, **body.given()}
    if changed != current:
        _check_code(tx, changed["code"], id)
        store.change_type(tx, id, **changed)
    return store.type_record(tx, id)


@of_packaging(answer="cursor", returns=PackagingMovementTold, ability="stock:read", history="packaging_movements")
def tell_packaging_movements(tx: Transaction, query: PackagingMovementQuery, position: int) -> CursorPage:
    """List packaging movements by cursor, with who recorded each."""
    return store.movements_after_with_recorders(tx, query, position)


def _check_code(tx: Transaction, code: str, type_id: int | None) -> None:
    """Raises Problem (422) when another packaging type has the code."""
    if store.type_id_of_code(tx, code) not in (None, type_id):
        raise invalid({"code": ["is taken by another packaging type"]})
