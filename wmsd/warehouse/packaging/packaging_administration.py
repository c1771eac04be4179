"""What people do with packaging types at the pages, and how movements are told there. Programs only read them."""

from functools import partial

from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory.directory_administration import change_record, create_record
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
    return store.TYPES.one(tx, id)


@by_admins(creates=True, audited="packaging_type.create")
def create_packaging_type(tx: Transaction, body: PackagingTypeFields) -> Record:
    """Create a packaging type."""
    return create_record(tx, store.TYPES, body)


@by_admins(precondition=store.TYPES.one, audited="packaging_type.change")
def change_packaging_type(tx: Transaction, id: int, body: PackagingTypeChanges) -> Record:
    """Change a packaging type. When nothing differs, nothing is written."""
    return change_record(tx, store.TYPES, id, body)


@of_packaging(answer="cursor", returns=PackagingMovementTold, ability="stock:read", history="packaging_movements")
def tell_packaging_movements(tx: Transaction, query: PackagingMovementQuery, position: int) -> CursorPage:
    """List packaging movements by cursor, with who recorded each."""
    return store.movements_after_with_recorders(tx, query, position)
