"""Names the code that was meant by one that no record has: `MAIN` by `main`, `BOLT-8` by `Bolt 8`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from wmsd.app.imports.wrong import Wrong
from wmsd.app.kinds import DOCUMENTS
from wmsd.db.transaction import Transaction
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES

UNKNOWN: Final = re.compile("^is not an? (.+) of this company$")
TABLES: Final[Mapping[str, str]] = {
    "article": "articles",
    "packaging type": "packaging_types",
    **{kind.noun: kind.table for kind in (CLIENTS, PARTNERS, WAREHOUSES)},
    **{kind.table.noun: kind.table.name for kind in DOCUMENTS},
}
"""Those that the sentence may name, and their tables."""


def with_codes_meant(tx: Transaction, errors: Iterable[Wrong]) -> list[Wrong]:
    """The errors, and where a code is unknown, the one that differs from it in capitals, blanks and signs only.
    Each table that is concerned is read once.
    """
    errors = list(errors)
    wanted: dict[str, set[str]] = {}
    for each in errors:
        if (table := _table(each)) is not None and each.cell:
            wanted.setdefault(table, set()).add(_alike(each.cell))
    found = {table: _codes(tx, table, alike - {""}) for table, alike in wanted.items()}
    return [_with_meant(each, found.get(_table(each) or "", {})) for each in errors]


def _table(error: Wrong) -> str | None:
    named = UNKNOWN.match(error.sentence)
    return None if named is None else TABLES.get(named[1])


def _codes(tx: Transaction, table: str, wanted: set[str]) -> dict[str, str]:
    """By what they have in common with those that are wanted. Of several, the first code."""
    codes = (code for (code,) in tx.rows(f"SELECT code FROM {table} ORDER BY code DESC"))
    return {alike: code for code in codes if (alike := _alike(code)) in wanted}


def _alike(code: str) -> str:
    return "".join(filter(str.isalnum, code)).casefold()


def _with_meant(error: Wrong, codes: Mapping[str, str]) -> Wrong:
    code = codes.get(_alike(error.cell or ""))
    return error if code is None else replace(error, sentence=f"{error.sentence}; {code} is the nearest code")
