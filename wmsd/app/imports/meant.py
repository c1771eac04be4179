"""Names the code that was meant by one that no record has: `MAIN` by `main`, `BOLT-8` by `Bolt 8`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from wmsd.app.imports.wrong import Wrong
from wmsd.app.kinds import DOCUMENTS
from wmsd.db.transaction import Transaction
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES

BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\W_]+(?=\d)")
UNKNOWN: Final = re.compile("^is not an? (.+) of this company$")
TABLES: Final[Mapping[str, str]] = {
    "article": "articles",
    "packaging type": "packaging_types",
    **{kind.noun: kind.table for kind in (CLIENTS, PARTNERS, WAREHOUSES)},
    **{kind.table.noun: kind.table.name for kind in DOCUMENTS},
}
"""Those that the sentence may name, and their tables."""


class Key(NamedTuple):
    without: str
    text: str


def with_codes_meant(tx: Transaction, errors: Iterable[Wrong]) -> list[Wrong]:
    """The errors, and where a code is unknown, the one that differs from it in capitals and blanks only, or else
    in signs too. Where there are several, none is named. Each table that is concerned is read once.
    """
    errors = list(errors)
    wanted: dict[str, set[Key]] = {}
    for each in errors:
        if (table := _table(each)) is not None and each.cell:
            wanted.setdefault(table, set()).update(_keys(each.cell))
    found = {table: _codes(tx, table, keys) for table, keys in wanted.items()}
    return [_with_meant(each, found.get(_table(each) or "", {})) for each in errors]


def _table(error: Wrong) -> str | None:
    named = UNKNOWN.match(error.sentence)
    return None if named is None else TABLES.get(named[1])


def _codes(tx: Transaction, table: str, wanted: set[Key]) -> dict[Key, str | None]:
    """By what they have in common with those that are wanted; None for several."""
    found: dict[Key, str | None] = {}
    for (code,) in tx.rows(f"SELECT code FROM {table}"):
        for key in _keys(code):
            if key in wanted:
                found[key] = None if key in found else code
    return found


def _keys(code: str) -> list[Key]:
    """What it has in common with codes that may be meant: the nearest first. Digits with a sign between them stay
    apart: `1-15` is not `11-5`, nor `10.5` `105`.
    """
    folded = code.casefold()
    without_signs = "|".join("".join(filter(str.isalnum, part)) for part in BETWEEN_DIGITS.split(folded))
    return [Key("blanks", "".join(folded.split())), *([Key("signs", without_signs)] if without_signs else [])]


def _with_meant(error: Wrong, codes: Mapping[Key, str | None]) -> Wrong:
    code = next((codes[key] for key in _keys(error.cell or "") if key in codes), None)
    return error if code is None else replace(error, sentence=f"{error.sentence}; {code} is the nearest code")
