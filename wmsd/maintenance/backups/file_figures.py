"""A few figures that describe the content of a database file, such as the number of rows of each table.

A backup stores the figures in its manifest. When the file is unpacked, wmsd checks that it has the same figures.
"""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from wmsd.db.engine.transaction import Transaction

TABLES: Final = """
    SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
    ORDER BY name
"""
LAST_EVENT: Final = "SELECT seq FROM sqlite_sequence WHERE name = 'events'"
SUM: Final = "SELECT coalesce(sum(quantity / 1000000), 0), coalesce(sum(quantity % 1000000), 0) FROM {}"
"""A sum in two parts, because the sum over a whole ledger may be too large for an integer of SQLite."""
SUMMED: Final = ("stock", "stock_movements", "packaging_balances", "packaging_movements")

Count = Annotated[int, Field(ge=0)]


class Figures(BaseModel):
    """The figures of one file. `schema_version` is the number of the last migration. `sums` has the sum of the
    quantities in some tables, by table. `last_change` and `last_event` are None for platform.db.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    schema_version: Count
    last_change: Count | None = None
    last_event: Count | None = None
    rows: dict[str, Count]
    """The number of rows of each table, by the name of the table."""
    sums: dict[str, int]


def read_figures(tx: Transaction) -> Figures:
    """Count the rows of every table, and add up the quantities of stock and packaging. Call this function on a
    thread, because it reads most tables completely.
    """
    tables = [name for (name,) in tx.rows(TABLES)]
    has_changes = "change_sequence" in tables
    return Figures(
        schema_version=tx.value("PRAGMA user_version"),
        last_change=tx.value("SELECT value FROM change_sequence") if has_changes else None,
        last_event=(tx.value(LAST_EVENT) or 0) if "events" in tables else None,
        rows={name: tx.value(f'SELECT count(*) FROM "{name}"') for name in tables},
        sums={name: _sum(tx, name) for name in SUMMED if name in tables},
    )


def _sum(tx: Transaction, table: str) -> int:
    [(millions, rest)] = tx.rows(SUM.format(table))
    return int(millions * 1_000_000 + rest)


def figure_differences(expected: Figures, found: Figures) -> list[str]:
    """Return a text for each figure in `found` that differs from `expected`."""
    one, other = _flat(expected), _flat(found)
    return [
        f"{name}: {other.get(name, 'none')} instead of {one.get(name, 'none')}"
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    ]


def _flat(figures: Figures) -> dict[str, int | None]:
    return {
        "schema": figures.schema_version,
        "last change": figures.last_change,
        "last event": figures.last_event,
        **{f"rows of {name}": rows for name, rows in figures.rows.items()},
        **{f"sum of {name}": total for name, total in figures.sums.items()},
    }
