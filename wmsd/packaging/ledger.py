"""The one way to move packaging: a movement, posted to the ledger and to the balance together, and told."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from wmsd.base.field_errors import FieldError, refuse_field_errors
from wmsd.base.quantity import MAXIMUM, to_text
from wmsd.db.transaction import Transaction
from wmsd.outbox.events import record_event
from wmsd.packaging import store
from wmsd.packaging.schema import Direction

EVENT: Final = "packaging.movement_recorded"


@dataclass(frozen=True, slots=True)
class Document:
    """What moves it: its type, such as `sales_order`, and its id."""

    type: str
    id: int


@dataclass(frozen=True, slots=True)
class Movement:
    """Millionths of a packaging type, OUT to a partner or IN from it; by default now, with the next `PM-` code."""

    packaging_type_id: int
    partner_id: int
    direction: Direction
    quantity: int
    code: str | None = None
    occurred_at: str | None = None
    notes: str | None = None

    @property
    def change(self) -> int:
        """What the balance gains: what goes out, the partner owes us."""
        return self.quantity if self.direction == "OUT" else -self.quantity


def record(tx: Transaction, movement: Movement, document: Document | None = None, path: str = "quantity") -> int:
    """The id of the movement. That type and partner are there, and the code is free, the caller has checked.

    Raises Problem (422 on `path`) when the balance would pass its bounds.
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


def take_back(tx: Transaction, document: Document) -> list[int]:
    """Moves the opposite of all that the document has moved until now. The ids of the movements."""
    return [
        record(
            tx,
            Movement(packaging_type_id, partner_id, "IN" if quantity > 0 else "OUT", abs(quantity)),
            document,
            "packaging",
        )
        for packaging_type_id, partner_id, quantity in store.net_of_document(tx, document.type, document.id)
    ]


def check_balances(tx: Transaction, movements: Iterable[tuple[str, Movement]]) -> Iterator[FieldError]:
    """A error at the path of each movement that, after those before it, would take its balance past its bounds."""
    balances: dict[tuple[int, int], int] = {}
    for path, movement in movements:
        place = (movement.packaging_type_id, movement.partner_id)
        if place not in balances:
            balances[place] = store.balance(tx, *place)
        after = balances[place] + movement.change
        if abs(after) <= MAXIMUM:
            balances[place] = after
        else:
            sentence = f"would make the balance {to_text(after)}, past {to_text(MAXIMUM)} either way"
            yield FieldError("VALIDATION_FAILED", path, sentence)
