"""The only code that records movements of packaging. It writes each movement to the ledger, changes the balance,
and records the event.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.quantity import MAXIMUM, to_text
from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.undo_rows import CreatedRows
from wmsd.events.outbox.events import record_event
from wmsd.warehouse.packaging import store
from wmsd.warehouse.packaging.schema import Direction

EVENT: Final = "packaging.movement_recorded"
MOVED: Final = """
    SELECT packaging_type_id, partner_id, iif(direction = 'IN', 'OUT', 'IN'), quantity FROM packaging_movements
    WHERE id > ? AND id <= ? ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class Document:
    """The document that causes a movement of packaging: its type, such as `sales_order`, and its id."""

    type: str
    id: int


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement of a packaging type, OUT to a partner or IN from one. The quantity is in millionths.

    If `occurred_at` is None, the movement gets the current time. If `code` is None, the movement gets the next
    code that begins with `PM-`.
    """

    packaging_type_id: int
    partner_id: int
    direction: Direction
    quantity: int
    code: str | None = None
    occurred_at: str | None = None
    notes: str | None = None

    @property
    def change(self) -> int:
        """The quantity to add to the balance, in millionths: above 0 for OUT, below 0 for IN. A balance above 0
        means that the partner owes packaging to the company.
        """
        return self.quantity if self.direction == "OUT" else -self.quantity


def record_movement(
    tx: Transaction, movement: Movement, document: Document | None = None, path: str = "quantity"
) -> int:
    """Record a movement and return its id.

    The caller must check that the packaging type and the partner exist, and that the code is free. Raise Problem
    (422) with an error at `path` if the balance would exceed its limits.
    """
    refuse_field_errors(check_balances(tx, [(path, movement)]))
    movement_id = store.post(
        tx,
        {
            "code": movement.code,
            "packaging_type_id": movement.packaging_type_id,
            "partner_id": movement.partner_id,
            "direction": movement.direction,
            "quantity": movement.quantity,
            "document_type": document and document.type,
            "document_id": document and document.id,
            "occurred_at": movement.occurred_at,
            "notes": movement.notes,
        },
        movement.change,
    )
    record_event(tx, EVENT, movement_id, store.recorded_data(tx, movement_id))
    return movement_id


def reverse_document(tx: Transaction, document: Document) -> list[int]:
    """Reverse all packaging movements of the document. Record one new movement for each type and partner, and
    return the ids of these movements.
    """
    return [
        record_movement(
            tx,
            Movement(packaging_type_id, partner_id, "IN" if quantity > 0 else "OUT", abs(quantity)),
            document,
            "packaging",
        )
        for packaging_type_id, partner_id, quantity in store.net_of_document(tx, document.type, document.id)
    ]


def check_balances(tx: Transaction, movements: Iterable[tuple[str, Movement]]) -> Iterator[FieldError]:
    """Check movements that will be recorded in this order. Yield an error for each movement with which a balance
    exceeds its limits.

    Each item of `movements` is (path for the error, movement).
    """
    balances: dict[tuple[int, int], int] = {}
    for path, movement in movements:
        place = (movement.packaging_type_id, movement.partner_id)
        if place not in balances:
            balances[place] = store.balance(tx, *place)
        after = balances[place] + movement.change
        if abs(after) <= MAXIMUM:
            balances[place] = after
        else:
            yield invalid_field(
                path, f"would change the balance to {to_text(after)}, beyond the limit of {to_text(MAXIMUM)}"
            )


def reverse_import(tx: Transaction, made: CreatedRows, reason: str) -> None:
    """Reverse each packaging movement that an import recorded. Raise Problem (422) if a balance would exceed its
    limits.

    `made` has the ids of the movements. `reason` becomes the note of each new movement.
    """
    for moved in tx.rows(MOVED, (made.after, made.last)):
        type_id, partner_id, direction, quantity = moved
        record_movement(tx, Movement(type_id, partner_id, direction, quantity, notes=reason))
