"""Codes of a file that differ from others in capital letters only. They are two records, which is seldom meant: so
whoever imports them is told.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from wmsd.base.importing import Alike, Row, chunks
from wmsd.db.transaction import Transaction

MOST_TOLD: Final = 20
TABLE: Final = "CREATE TABLE {schema}.staged_codes (line INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE)"
INDEX: Final = "CREATE INDEX {schema}.staged_codes_by_code ON staged_codes (code)"
ADD: Final = "INSERT INTO staged_codes (line, code) VALUES (?, ?)"
FIND: Final = """
    SELECT line, code, other, other_line, count(*) OVER () AS in_all FROM (
        SELECT staged.line, staged.code, first.code AS other, first.line AS other_line
        FROM (
            SELECT code, min(line) AS line FROM staged_codes
            GROUP BY code HAVING count(DISTINCT code COLLATE BINARY) > 1
        ) AS first CROSS JOIN staged_codes AS staged ON staged.code = first.code
        WHERE staged.code <> first.code COLLATE BINARY
        UNION ALL
        SELECT staged.line, staged.code, known.code, NULL
        FROM (
            SELECT min(code) AS code FROM {table} AS there
            WHERE EXISTS (SELECT 1 FROM staged_codes WHERE staged_codes.code = there.code)
            GROUP BY code COLLATE NOCASE
        ) AS known CROSS JOIN staged_codes AS staged ON staged.code = known.code
        WHERE staged.code <> known.code COLLATE BINARY
    ) AS found
    WHERE NOT EXISTS (SELECT 1 FROM {table} AS same WHERE same.code = found.code COLLATE BINARY)
    ORDER BY line, other_line LIMIT :most
"""
"""Reads every code that is there once. The column of `staged_codes`, on the left of each comparison, has it made
without regard to capital letters. Each row is compared with one code of those that are alike, not with each: there
may be as many.
"""


def noted(tx: Transaction, schema: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Passes the rows on, and notes their codes."""
    tx.execute(TABLE.format(schema=schema))
    for chunk in chunks(rows):
        tx.executemany(ADD, [(row.line, code) for row in chunk if (code := _code(row)) is not None])
        yield from chunk
    tx.execute(INDEX.format(schema=schema))


def _code(row: Row) -> Any:
    code = row.values.get("code")
    return code if isinstance(code, str) else None


def find(tx: Transaction, table: str) -> list[Alike]:
    """The first, in the order of the file. `table` has the records that the rows are about."""
    return [Alike(*row) for row in tx.rows(FIND.format(table=table), {"most": MOST_TOLD})]
