"""Whether a warehouse may be switched off. What is in it would be locked in, as no new document can name it.

Goods and documents are in rooms that this one does not know, so each room contributes what it has there.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Holding:
    """`count` is a SELECT: how many of its records keep the warehouse (`:id`) open. `sentence` shows the number as
    `{count}`.
    """

    count: str
    sentence: str


GOODS: Final = (
    "cannot be switched off: goods are in {count} of its stock records. Ship, move or book them out first"
)
OPEN_DOCUMENTS: Final = "cannot be switched off: {count} of its documents are open. Finish or cancel them first"


class Holdings:
    """What all rooms have in warehouses. The installation provides it."""

    def __init__(self, of_all_rooms: Callable[[], Iterable[Holding]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Holding]:
        return list(self._of_all_rooms())

    def errors(self, tx: Transaction, before: Mapping[str, object], after: Mapping[str, object]) -> FieldErrors:
        """The errors of a change that would switch the warehouse off. `before`: its columns."""
        if not before.get("active") or after["active"]:
            return {}
        found = [(tx.number(each.count, {"id": before["id"]}), each.sentence) for each in self.every]
        sentences = [sentence.format(count=count) for count, sentence in found if count]
        return {"active": sentences} if sentences else {}
