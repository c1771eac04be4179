"""Documents that depend on another one, whose room does not know them: each kind says how they are found."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Dependent:
    """`on` is a table, and `code` a SELECT of the code of one document that depends on any of its rows `:ids`."""

    on: str
    code: str


class Dependents:
    """Those of all rooms. The installation provides them."""

    def __init__(self, of_all_rooms: Callable[[], Iterable[Dependent]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def _every(self) -> list[Dependent]:
        return list(self._of_all_rooms())

    def find(self, tx: Transaction, on: str, ids: Iterable[int]) -> str | None:
        """The code of one."""
        wanted = {"ids": dumps(sorted(ids))}
        found = (tx.value(each.code, wanted) for each in self._every if each.on == on)
        return next((code for code in found if code is not None), None)
