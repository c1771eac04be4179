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
        records = [
            row[0]
            for row in tx.rows(
                f"SELECT {record} FROM {self.source}{where} ORDER BY {self.order} LIMIT :limit OFFSET :offset",
                {**values, "limit": query.per_page, "offset": query.offset},
            )
        ]
        if values:
            total = tx.value(f"SELECT count(*) FROM {self.source}{where}", values)
        else:
            total = tx.value("SELECT rows FROM row_counts WHERE name = ?", (self.count,))
        return Page(records, total or 0)

    def after(
        self, tx: Transaction, record: str, query: CursorQuery, position: int, values: Mapping[str, object]
    ) -> CursorPage:
        """What follows the position, by the order's column; that column must be unique."""
        where = self._where(values, f"{self.order} > :position")
        rows = tx.rows(
            f"SELECT {record}, {self.order} FROM {self.source}{where} ORDER BY {self.order} LIMIT :limit",
            {**values, "position": position, "limit": query.per_page + 1},
        )
        more = len(rows) > query.per_page
        rows = rows[: query.per_page]
        return CursorPage([row[0] for row in rows], rows[-1][1] if more else None)

    def _where(self, values: Mapping[str, object], *conditions: str) -> str:
        every = [*conditions, *(self.filters[name] for name in values)]
        return f" WHERE {' AND '.join(every)}" if every else ""
