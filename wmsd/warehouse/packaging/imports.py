"""The import of packaging types and movements."""

from collections.abc import Iterable
from typing import Final

from pydantic import ValidationError

from wmsd.base.problems import FieldErrors, Problem
from wmsd.contract.bulk_imports import FirstSeen, Outcome, Row
from wmsd.contract.validation import field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import insert_in_order, update_in_order
from wmsd.db.sql.code_forms import form_errors
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.actions import check_movement, record_by_hand
from wmsd.warehouse.packaging.schema import PackagingMovementFields, PackagingTypeFields

MOVEMENTS: Final = "packaging_movements"


def import_packaging_types(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """Import packaging types. A row with a new code creates a type. A row with a known code renames the type."""
    codes = FirstSeen()
    for row in rows:
        errors = codes.given_twice(row)
        try:
            fields = PackagingTypeFields.model_validate(row.values)
        except ValidationError as error:
            outcome.refuse(row.line, errors | field_errors(error))
            continue
        current = directory.by_code(tx, store.TYPES, fields.code)
        if current is None and (sentences := form_errors(tx, store.TYPES.table, store.TYPES.noun, fields.code)):
            errors |= {"code": sentences}
        if errors:
            outcome.refuse(row.line, errors)
        elif current is None:
            insert_in_order(tx, store.TYPES.table, fields.model_dump())
            outcome.created += 1
        elif current["name"] == fields.name:
            outcome.unchanged += 1
        else:
            update_in_order(tx, store.TYPES.table, current["id"], fields.model_dump())
            outcome.updated += 1


def import_packaging_movements(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """Record movements. A row with the code of a recorded movement changes nothing. Such a row has an error if a
    value differs from the recorded movement.
    """
    codes = FirstSeen()
    for row in rows:
        errors = codes.given_twice(row)
        try:
            fields = check_movement(tx, row.values)
            recorded = store.content_of_code(tx, fields.code) if fields.code is not None else None
            errors |= _differing(recorded, fields)
            if recorded is None and (sentences := form_errors(tx, MOVEMENTS, "movement", fields.code)):
                errors |= {"code": sentences}
            if not errors and recorded is None:
                record_by_hand(tx, fields)
        except Problem as problem:
            errors |= problem.errors
        if errors:
            outcome.refuse(row.line, errors)
        elif recorded is None:
            outcome.created += 1
        else:
            outcome.unchanged += 1


def _differing(recorded: dict[str, object] | None, fields: PackagingMovementFields) -> FieldErrors:
    """Return an error for each given field that differs from the movement `recorded`. Return no errors if
    `recorded` is None.
    """
    given = fields.given()
    if fields.occurred_at is None:
        given.pop("occurred_at", None)  # an empty cell gives no time to compare
    return {
        name: [
            f"differs from the recorded movement {fields.code}, which cannot be changed: enter the recorded "
            "value, or use a new code for a new movement"
        ]
        for name, value in (recorded or {}).items()
        if name in given and given[name] != value
    }
