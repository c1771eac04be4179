"""Rules for switching a warehouse off. A new document cannot name a warehouse that is off, so goods cannot leave
it. Therefore a warehouse with goods cannot be switched off.

This package must not import the packages for stock and documents. Therefore `warehouse/contributions.py` provides
the queries.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Holding:
    """A reason that forbids switching a warehouse off.

    `count` is a SELECT for the warehouse `:id`. It returns the number of records that forbid the switch.
    `sentence` is the error text, with `{count}` for this number.
    """

    count: str
    sentence: str


GOODS: Final = (
    "cannot be switched off: {count} of its stock records still have goods. First ship, move or book out these "
    "goods"
)
OPEN_DOCUMENTS: Final = "cannot be switched off: {count} of its documents are open. Finish or cancel them first"


class Holdings:
    """All reasons that forbid switching a warehouse off. Code gets this object from `tx.service(Holdings)`."""

    def __init__(self, of_all_rooms: Callable[[], Iterable[Holding]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Holding]:
        return list(self._of_all_rooms())

    def errors(self, tx: Transaction, before: Mapping[str, object], after: Mapping[str, object]) -> FieldErrors:
        """Return an error if the change switches the warehouse off, but the warehouse has goods or open documents.

        `before` and `after` are the columns of the warehouse before and after the change.
        """
        if not before.get("active") or after["active"]:
            return {}
        found = [(tx.number(each.count, {"id": before["id"]}), each.sentence) for each in self.every]
        sentences = [sentence.format(count=count) for count, sentence in found if count]
        return {"active": sentences} if sentences else {}
