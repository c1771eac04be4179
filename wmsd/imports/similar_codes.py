"""Detects codes in a file that look alike.

Such codes differ only in capitals, in invisible characters such as a no-break space, or in leading zeros, which
spreadsheets drop. Two codes that look alike are the codes of two different records, but users usually mean one
record. Therefore wmsd warns about such codes.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from wmsd.contract.bulk_imports import Alike, Row, chunks
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.code_forms import BEYOND_ASCII
from wmsd.db.sql.staged_rows import make_tables

MOST_LISTED: Final = 20
LONGEST_CODE: Final = 64
"""The maximum length of a code that is compared, in characters. Longer codes are refused anyway, and the Unicode
normalisation of a very long code could take very long.
"""
UNSEEN: Final = ("Cf", "Mn", "Zs")
"""The Unicode categories of characters that are invisible or change the character before them."""
TABLES: Final = (
    "CREATE TABLE {schema}.staged_codes (line INTEGER PRIMARY KEY, code TEXT, look TEXT)",
    "CREATE TABLE {schema}.staged_known (code TEXT, look TEXT)",
)
INDEX: Final = "CREATE INDEX {schema}.staged_codes_by_look ON staged_codes (look)"
ADD: Final = "INSERT INTO staged_codes (line, code, look) VALUES (?, ?, ?)"
ADD_KNOWN: Final = "INSERT INTO staged_known (code, look) VALUES (?, ?)"
LOOK: Final = "CASE WHEN code GLOB '*[^0-9]*' THEN lower(code) ELSE ltrim(code, '0') END"
"""An SQL expression for codes in ASCII. Its result is the same as the result of `_look`."""
KNOWN_BEYOND_ASCII: Final = f"SELECT code FROM {{table}} WHERE {BEYOND_ASCII}"
FIND: Final = f"""
    WITH known AS (
        SELECT code, {LOOK} AS look FROM {{table}} WHERE NOT {BEYOND_ASCII}
        UNION ALL
        SELECT code, look FROM staged_known
    )
    SELECT line, code, other, other_line, count(*) OVER () AS in_all FROM (
        SELECT staged.line, staged.code, first.code AS other, first.line AS other_line
        FROM (
            SELECT look, code, min(line) AS line FROM staged_codes
            GROUP BY look HAVING count(DISTINCT code) > 1
        ) AS first CROSS JOIN staged_codes AS staged ON staged.look = first.look
        WHERE staged.code <> first.code
        UNION ALL
        SELECT staged.line, staged.code, there.code, NULL
        FROM (
            SELECT look, min(code) AS code FROM known
            WHERE EXISTS (SELECT 1 FROM staged_codes WHERE staged_codes.look = known.look)
            GROUP BY look
        ) AS there CROSS JOIN staged_codes AS staged ON staged.look = there.look
        WHERE staged.code <> there.code
    ) AS found
    WHERE NOT EXISTS (SELECT 1 FROM {{table}} AS same WHERE same.code = found.code)
    ORDER BY line, other_line LIMIT :most
"""
"""The SQL that selects the new codes of the file that look like another code. The other code is in the file, or
belongs to an existing record. The SQL reads every existing code once.

SQLite's `lower` changes ASCII letters only. Therefore `noted` computes the keys of existing codes with characters
beyond ASCII, and stores the keys in `staged_known`.

Very many codes may look alike. Therefore the SQL returns, for each row, at most one similar code of the file and
one existing code.
"""


def noted(tx: Transaction, schema: str, table: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows unchanged. Store their codes in temporary tables of the database `schema`, for `find`.

    `table` is the table of the records that the rows create or change.
    """
    make_tables(tx, schema, TABLES)
    known = [code for (code,) in tx.rows(KNOWN_BEYOND_ASCII.format(table=table))]
    tx.executemany(ADD_KNOWN, [(code, _look(code)) for code in known])
    for chunk in chunks(rows):
        codes = [(row.line, code) for row in chunk if (code := _code(row)) is not None]
        tx.executemany(ADD, [(line, code, _look(code)) for line, code in codes])
        yield from chunk
    tx.execute(INDEX.format(schema=schema))


def _code(row: Row) -> str | None:
    code = row.values.get("code")
    return code if isinstance(code, str) and len(code) <= LONGEST_CODE else None


def _look(code: str) -> str:
    """Return a key that is equal for codes that look alike."""
    if code.isascii():
        return code.lstrip("0") if code.isdigit() else code.lower()
    found = unicodedata.normalize("NFC", code)
    seen = ((each, unicodedata.category(each)) for each in found)
    return "".join(" " if category == "Zs" else each for each, category in seen if category != "Cf").lower()


def _shown(code: str) -> str:
    """Return the code with invisible characters replaced by their numbers."""
    return "".join(f"⟨U+{ord(each):04X}⟩" if _is_unseen(each) else each for each in code)


def _is_unseen(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) in UNSEEN


def find(tx: Transaction, table: str) -> list[Alike]:
    """Return the first pairs of codes that look alike, in the order of the file."""
    rows = tx.rows(FIND.format(table=table), {"most": MOST_LISTED})
    return [
        Alike(line, _shown(code), _shown(other), other_line, in_all)
        for line, code, other, other_line, in_all in rows
    ]
