"""Records the returnable packaging that goes out or comes in when a document gets a certain status."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.contract.fields import Input
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.packaging.packaging_ledger import Document, record_movement
from wmsd.warehouse.packaging.packaging_lines import find_movements
from wmsd.warehouse.packaging.schema import Direction, PackagingLine

MOST_LINES: Final = 100
Packaging = Annotated[
    list[PackagingLine] | None,
    Field(
        max_length=MOST_LINES,
        description=(
            "Returnable packaging that moves with the goods. Only in requests: answers do not contain this field."
        ),
    ),
]


class WithPackaging(Input):
    """A request that changes the status of a document and may record packaging."""

    packaging: Packaging = None


def goes_with(packaging: Sequence[Any] | None, requested: str | None, wanted: str) -> list[FieldError]:
    """Return an error if the request has packaging but does not change the status to `wanted`. Otherwise return an
    empty list. `requested` is the status that the request asks for, or None.
    """
    if packaging and requested != wanted:
        return [invalid_field("packaging", f"is allowed only together with the status {wanted}")]
    return []


def check_goes_with(packaging: Sequence[PackagingLine] | None, requested: str | None, wanted: str) -> None:
    """Raise Problem (422) if a request has packaging, but does not change the status to `wanted`."""
    refuse_field_errors(goes_with(packaging, requested, wanted))


def record_packaging(
    tx: Transaction,
    document: Document,
    packaging: Sequence[PackagingLine],
    partner_id: int,
    direction: Direction,
) -> None:
    """Record movements for the lines of packaging. If any of these lines has errors, raise Problem (422) with all
    errors.
    """
    movements, errors = find_movements(tx, packaging, partner_id, direction)
    refuse_field_errors(errors)
    for movement in movements:
        record_movement(tx, movement, document)
