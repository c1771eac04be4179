"""The operations on packaging that users have in the browser: packaging types, and movements recorded by hand.

API clients can only read packaging.
"""

from functools import partial

from wmsd.base.problems import refuse_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.code_forms import form_errors
from wmsd.warehouse.directory.directory_administration import change_record, create_record
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.actions import record_by_hand, unknown_codes
from wmsd.warehouse.packaging.packaging_ledger import EVENT
from wmsd.warehouse.packaging.schema import (
    PackagingMovementFields,
    PackagingMovementQuery,
    PackagingMovementRecorded,
    PackagingMovementWithRecorder,
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
    """Change a packaging type.

    If nothing differs, nothing is written.
    """
    return change_record(tx, store.TYPES, id, body)


@of_packaging(
    answer="cursor", returns=PackagingMovementWithRecorder, ability="stock:read", history="packaging_movements"
)
def list_movements_with_recorders(tx: Transaction, query: PackagingMovementQuery, position: int) -> CursorPage:
    """List packaging movements and who recorded them."""
    return store.movements_after_with_recorders(tx, query, position)


@of_packaging(
    answer="record",
    returns=PackagingMovementRecorded,
    ability="stock:write",
    writes=True,
    creates=True,
    events=(EVENT,),
)
def record_packaging_movement(tx: Transaction, body: PackagingMovementFields) -> Record:
    """Record a packaging movement.

    The packaging went out to a partner, or came in from one. A recorded movement cannot be changed. To correct it,
    record a movement in the other direction.
    """
    errors = unknown_codes(tx, body.model_dump())
    if body.code is not None and store.content_of_code(tx, body.code) is not None:
        errors["code"] = ["is taken by another movement"]
    elif sentences := form_errors(tx, "packaging_movements", "movement", body.code):
        errors["code"] = sentences
    refuse_errors(errors)
    movement_id = record_by_hand(tx, body)
    return Record(movement_id, store.recorded_data(tx, movement_id))
