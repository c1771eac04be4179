"""The import of clients, partners and warehouses. A row with a new code creates a record. A row with a known code
changes that record.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from wmsd.base.problems import FieldErrors
from wmsd.contract.bulk_imports import FirstSeen, Outcome, Row
from wmsd.contract.validation import field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import insert_in_order, update_in_order
from wmsd.db.sql.code_forms import form_errors
from wmsd.db.sql.statements import column_values
from wmsd.warehouse.directory import store
from wmsd.warehouse.directory.closing_rules import Holdings
from wmsd.warehouse.directory.store import WAREHOUSES, DirectoryKind

ADDRESS = "address."


def import_records(tx: Transaction, rows: Iterable[Row], outcome: Outcome, kind: DirectoryKind) -> None:
    """Create or change a record of `kind` for each row. Count the results in `outcome`, and add the errors to it.

    Each field of an address has a separate column, such as `address.city`.
    """
    codes = FirstSeen()
    for row in rows:
        code = str(row.values.get("code", ""))
        current = store.by_code(tx, kind, code)
        values = nest_address(row.values)
        shown = kind.shown_fields(current) if current else {}
        errors: FieldErrors = {}
        columns: dict[str, Any] = {}
        try:
            checked = kind.fields.model_validate(laid_over(shown, values))
            columns = column_values(checked.model_dump())
        except ValidationError as error:
            errors = field_errors(error)
        errors |= codes.given_twice(row)
        if current is None and (sentences := form_errors(tx, kind.table, kind.noun, code)):
            errors |= {"code": sentences}
        elif current is not None and columns and kind is WAREHOUSES:
            errors |= tx.service(Holdings).errors(tx, current, columns)
        if errors:
            outcome.refuse(row.line, errors)
        elif current is None:
            insert_in_order(tx, kind.table, columns)
            outcome.created += 1
        elif columns == column_values(shown):
            outcome.unchanged += 1
        else:
            update_in_order(tx, kind.table, current["id"], columns)
            outcome.updated += 1


def nest_address(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the values, with one object `address` in place of columns such as `address.city`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name.startswith(ADDRESS):
            found.setdefault("address", {})[name.removeprefix(ADDRESS)] = value
        else:
            found[name] = value
    return found


def laid_over(current: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `current` fields, overwritten by the `given` fields. If only some parts of the address are given,
    its other parts keep their current values.
    """
    merged = {**current, **given}
    if "address" in given:
        address = {**(current.get("address") or {}), **given["address"]}
        merged["address"] = address if any(value is not None for value in address.values()) else None
    return merged
