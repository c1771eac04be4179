"""Declarations for lists: totals from stored counts, filters by date, and filters by rows of other tables."""

from collections.abc import Mapping
from typing import NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Tally:
    """A table with the columns status, partner_id and rows, which has the number of records for each status and
    partner. Triggers keep it up to date. It gives the total of a list that is filtered by status, by partner, or
    by both.

    If `by_partner` is False, the table has no column partner_id.
    """

    table: str
    statuses: tuple[str, ...]
    by_partner: bool = True

    def applies(self, values: Mapping[str, object]) -> bool:
        return bool(values) and set(values) <= {"status", *(["partner_id"] if self.by_partner else [])}

    def total(self, tx: Transaction, values: Mapping[str, object]) -> int:
        statuses = dumps(values.get("status", self.statuses))
        partner = "partner_id = :partner_id AND" if "partner_id" in values else ""
        return tx.number(
            f"SELECT coalesce(sum(rows), 0) FROM {self.table} "
            f"WHERE {partner} status IN (SELECT value FROM json_each(:statuses))",
            {**values, "statuses": statuses},
        )


class DateRange(NamedTuple):
    """A column with an optional date, and its two filters. `first` is the name of the filter for the earliest
    date. `last` is the name of the filter for the latest date.

    If the list has a `Tally`, the table needs an index on its status and this column.
    """

    column: str
    first: str
    last: str

    @property
    def conditions(self) -> dict[str, str]:
        return {self.first: f"{self.column} >= :{self.first}", self.last: f"{self.column} <= :{self.last}"}


class Member(NamedTuple):
    """A filter that selects records by rows of another table, for example orders by their lines.

    `table` is the other table. `condition` is the SQL condition that its rows must meet. `column` is its column
    with the id of the record to which a row belongs.
    """

    table: str
    column: str
    condition: str

    @property
    def met(self) -> str:
        return f"FROM {self.table} WHERE {self.condition}"

    @property
    def rows(self) -> str:
        return f"SELECT {self.column} {self.met}"

    def among(self, key: str) -> str:
        """Return an SQL condition that first finds the matching rows, and then their records. It is fast if few
        rows match. `key` is the column with the record's id.
        """
        return f"{key} IN ({self.rows})"

    def of_each(self, key: str) -> str:
        """Return an SQL condition that looks for a matching row separately for each record. It is fast if many
        rows match. `key` is the column with the record's id.
        """
        return f"EXISTS ({self.rows} AND {self.column} = {key})"
