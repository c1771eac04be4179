"""The operations on packaging. REST clients read packaging. The command line also records movements by hand."""

from collections.abc import Mapping
from functools import partial

from wmsd.base.problems import FieldErrors, Problem, invalid, refuse_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.packaging_ledger import Movement, record_movement
from wmsd.warehouse.packaging.schema import (
    PackagingBalance,
    PackagingBalanceQuery,
    PackagingMovement,
    PackagingMovementFields,
    PackagingMovementQuery,
    PackagingType,
    PackagingTypeQuery,
)

reading = partial(operation, tag="Packaging", answer="cursor", module="stock", ability="stock:read")


@reading(returns=PackagingType)
def walk_packaging_types(tx: Transaction, query: PackagingTypeQuery, position: int) -> CursorPage:
    """List packaging types by cursor.

    Follow `next_cursor` until it is null. Users create and change packaging types in the browser.
    """
    return directory.after(tx, store.TYPES, query, position)


@reading(returns=PackagingBalance)
def walk_packaging_balances(tx: Transaction, query: PackagingBalanceQuery, position: int) -> CursorPage:
    """List packaging balances by cursor.

    A balance of a packaging type with a partner exists from the first movement of this type to or from this
    partner. Follow `next_cursor` until it is null.
    """
    return store.balances_after(tx, query, position)


@reading(returns=PackagingMovement, history="packaging_movements")
def walk_packaging_movements(tx: Transaction, query: PackagingMovementQuery, position: int) -> CursorPage:
    """List packaging movements by cursor.

    The movements are in the order in which they were recorded. Follow `next_cursor` until it is null. After a
    restore, movements before the position of your cursor may be missing. In this case the answer is 422, and its
    `details` contain the `cursor` with which to continue.
    """
    return store.movements_after(tx, query, position)


def check_movement(
    tx: Transaction, values: Mapping[str, object], text_errors: FieldErrors | None = None
) -> PackagingMovementFields:
    """Return the validated fields of a movement that is recorded by hand. Raise Problem (422) with every error.

    `text_errors` are the errors, by field, that the caller found when it converted texts to values.
    """
    unknown = unknown_codes(tx, values)
    try:
        fields = validate_model(PackagingMovementFields, values, text_errors)
    except Problem as problem:
        raise invalid({**unknown, **problem.errors}) from None
    refuse_errors(unknown)
    return fields


def unknown_codes(tx: Transaction, values: Mapping[str, object]) -> FieldErrors:
    """Return an error for each unknown code in `values`: the packaging type's code, and the partner's code."""
    unknown: FieldErrors = {}
    if directory.id_of_code(tx, store.TYPES, str(values.get("packaging_type_code"))) is None:
        unknown["packaging_type_code"] = ["is not a packaging type of this company"]
    if directory.id_of_code(tx, directory.PARTNERS, str(values.get("partner_code"))) is None:
        unknown["partner_code"] = ["is not a partner of this company"]
    return unknown


def record_by_hand(tx: Transaction, fields: PackagingMovementFields) -> int:
    """Record a movement, and return its id. The caller must have checked the fields, and that the code is free.

    Raise Problem (422 on `quantity`) if the balance would exceed its limits.
    """
    type_id = directory.id_of_code(tx, store.TYPES, fields.packaging_type_code)
    partner_id = directory.id_of_code(tx, directory.PARTNERS, fields.partner_code)
    assert type_id is not None, fields.packaging_type_code
    assert partner_id is not None, fields.partner_code
    return record_movement(
        tx,
        Movement(
            packaging_type_id=type_id,
            partner_id=partner_id,
            direction=fields.direction,
            quantity=fields.quantity,
            code=fields.code,
            occurred_at=fields.occurred_at,
            notes=fields.notes,
        ),
    )
