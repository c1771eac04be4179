"""Finds documents that depend on another one. The other one's room does not know them, so each kind contributes
its query.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Dependent:
    """`on` is a table. `code` is a SELECT: the code of one document that depends on any of the rows `:ids` of that
    table.
    """

    on: str
    code: str


class Dependents:
    """The dependents that all rooms contribute. The installation provides them."""

    def __init__(self, of_all_rooms: Callable[[], Iterable[Dependent]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Dependent]:
        return list(self._of_all_rooms())

    def find(self, tx: Transaction, on: str, ids: Iterable[int]) -> str | None:
        """The code of one dependent document, or None."""
        wanted = {"ids": dumps(sorted(ids))}
        found = (tx.value(each.code, wanted) for each in self.every if each.on == on)
        return next((code for code in found if code is not None), None)
