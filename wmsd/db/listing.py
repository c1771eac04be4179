"""How lists are read: pages by number with a total, and walks by cursor."""

from collections.abc import Mapping
from dataclasses import dataclass

from wmsd.base.listing import CursorQuery, PageQuery
from wmsd.base.results import CursorPage, Page
from wmsd.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Listing:
    """A list's SQL. `filters` maps a query parameter to its condition, which names the parameter.

    `count` is the table in `row_counts` whose figure is the total of the list without filters.
    """

    source: str
    order: str
    filters: Mapping[str, str]
    count: str

    def page(self, tx: Transaction, record: str, query: PageQuery, values: Mapping[str, object]) -> Page:
        """Stable order, numbered pages. `values` are the filters that the caller gave."""
        where = self._where(values)
        records, _, _ = self._joined(
            tx, record, where, {**values, "limit": query.per_page, "offset": query.offset}
        )
        if values:
            total = tx.value(f"SELECT count(*) FROM {self.source}{where}", values)
        else:
            total = tx.value("SELECT rows FROM row_counts WHERE name = ?", (self.count,))
        return Page(records, total or 0)

    def after(
        self, tx: Transaction, record: str, query: CursorQuery, position: int, values: Mapping[str, object]
    ) -> CursorPage:
        """What follows the position, by the order's column; that column must be unique."""
        where = self._where(values, f"{self.order} > :position + 0")
        given = {**values, "position": position}
        records, last, count = self._joined(tx, record, where, {**given, "limit": query.per_page, "offset": 0})
        more = count == query.per_page and tx.value(
            f"SELECT 1 FROM {self.source}{where} LIMIT 1", {**given, "position": last}
        )
        return CursorPage(records, last if more else None)

    def _joined(
        self, tx: Transaction, record: str, where: str, values: Mapping[str, object]
    ) -> tuple[str, int, int]:
        """The records with commas between them, the last one's place, their number; in one step of SQLite.

        They come in the order of the subquery; this SQLite is pinned, and the tests of every list hold it to that.

        A step gives Python's lock away and waits for it again: fifty steps a page cost more than the page. And
        a bare parameter as LIMIT makes SQLite plan the statement anew for every value, which costs as much as
        running it; the `+ 0` hides it from the planner.
        """
        row = tx.row(
            f"SELECT group_concat(record, ','), max(place), count(*) FROM "
            f"(SELECT {record} AS record, {self.order} AS place FROM {self.source}{where} "
            f"ORDER BY {self.order} LIMIT :limit + 0 OFFSET :offset + 0)",
            values,
        )
        assert row is not None
        return row[0] or "", row[1] or 0, row[2]

    def _where(self, values: Mapping[str, object], *conditions: str) -> str:
        every = [*conditions, *(self.filters[name] for name in values)]
        return f" WHERE {' AND '.join(every)}" if every else ""
