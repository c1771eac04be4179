"""The search for documents that depend on another document, such as the receptions of a purchase order.

The package for purchase orders must not import the package for receptions. Therefore each kind of document that
depends on another kind contributes its query.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Dependent:
    """A query for documents that depend on rows of the table `on`.

    `code` is a SELECT that returns the code of one document that depends on any of the rows `:ids` of that table.
    """

    on: str
    code: str


class Dependents:
    """The queries of all packages for dependent documents. Code gets this object by `tx.service(Dependents)`."""

    def __init__(self, of_all_rooms: Callable[[], Iterable[Dependent]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Dependent]:
        return list(self._of_all_rooms())

    def find(self, tx: Transaction, on: str, ids: Iterable[int]) -> str | None:
        """Return the code of one document that depends on a row of `on`, or None if there is no such document."""
        wanted = {"ids": dumps(sorted(ids))}
        found = (tx.value(each.code, wanted) for each in self.every if each.on == on)
        return next((code for code in found if code is not None), None)
