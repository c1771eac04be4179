"""Finds documents that depend on another document. For example, receptions depend on a purchase order.

The package for purchase orders must not import the package for receptions. Therefore the package of each dependent
kind of document provides a query that finds its documents.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Dependent:
    """A query for documents that depend on rows of the table `on`.

    `code` is a SELECT statement. Its parameter `:ids` has the ids of these rows. It returns the code of one
    document that depends on any of them.
    """

    on: str
    code: str


class Dependents:
    """The queries that packages provide to find dependent documents. Other code gets this object from
    `tx.service(Dependents)`.
    """

    def __init__(self, of_all_rooms: Callable[[], Iterable[Dependent]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Dependent]:
        return list(self._of_all_rooms())

    def find(self, tx: Transaction, on: str, ids: Iterable[int]) -> str | None:
        """Return the code of one document that depends on any of the rows `ids` of the table `on`. Return None if
        no document depends on them.
        """
        wanted = {"ids": dumps(sorted(ids))}
        found = (tx.value(each.code, wanted) for each in self.every if each.on == on)
        return next((code for code in found if code is not None), None)
