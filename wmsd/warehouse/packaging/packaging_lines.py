"""Converts the packaging lines of a document to movements, and finds all errors in the lines."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.packaging_ledger import Movement, check_balances
from wmsd.warehouse.packaging.schema import Direction, PackagingLine


def find_movements(
    tx: Transaction,
    lines: Sequence[PackagingLine],
    partner_id: int,
    direction: Direction,
    occurred_at: str | None = None,
    path: str = "packaging",
) -> tuple[list[Movement], list[FieldError]]:
    """Convert packaging lines to movements, which `record_movement` can record. Return these movements and the
    errors.

    A line with an unknown packaging type has an error and no movement.
    """
    types = Types(tx, lines)
    found: list[tuple[str, Movement]] = []
    errors: list[FieldError] = []
    for number, line in enumerate(lines):
        type_id, error = types.find(line, f"{path}.{number}")
        if error is not None:
            errors.append(error)
        if type_id is not None:
            movement = Movement(type_id, partner_id, direction, line.quantity, occurred_at=occurred_at)
            found.append((f"{path}.{number}.quantity", movement))
    return [movement for _, movement in found], [*errors, *check_balances(tx, found)]


def type_errors(tx: Transaction, lines: Sequence[PackagingLine], path: str = "packaging") -> Iterator[FieldError]:
    """Return an error for each line whose packaging type is unknown."""
    types = Types(tx, lines)
    for number, line in enumerate(lines):
        _, error = types.find(line, f"{path}.{number}")
        if error is not None:
            yield error


class NamesType(Protocol):
    """A line that names its packaging type by id or by code."""

    @property
    def packaging_type_id(self) -> int | None: ...

    @property
    def packaging_type_code(self) -> str | None: ...


class Types:
    """The packaging types that the lines name, all read in one query."""

    def __init__(self, tx: Transaction, lines: Sequence[NamesType]) -> None:
        ids = {line.packaging_type_id for line in lines if line.packaging_type_id is not None}
        codes = {line.packaging_type_code for line in lines if line.packaging_type_code is not None}
        self._codes = store.types_named(tx, ids, codes)
        self._ids = {code: type_id for type_id, code in self._codes.items()}

    def find(self, line: NamesType, path: str) -> tuple[int | None, FieldError | None]:
        """Return two values: the id of the line's packaging type and an error. One of them is None.

        The error says that the packaging type is missing or unknown.
        """
        type_id, code = line.packaging_type_id, line.packaging_type_code
        if type_id is None and code is None:
            return None, invalid_field(
                f"{path}.packaging_type_id", "is required unless packaging_type_code is given"
            )
        if type_id is None:
            type_id = self._ids.get(code or "")
            unknown = f"{path}.packaging_type_code"
        else:
            unknown = f"{path}.packaging_type_id"
        if type_id not in self._codes:
            return None, invalid_field(unknown, "is not a packaging type of this company")
        if code not in (None, self._codes[type_id]):
            return None, invalid_field(
                f"{path}.packaging_type_code", f"is not the code of packaging type {type_id}"
            )
        return type_id, None
