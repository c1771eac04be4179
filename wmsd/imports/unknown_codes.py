"""Names the code that was meant by one that no record has: `MAIN` by `main`, `BOLT-8` by `Bolt 8`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.imports.errors import Wrong
from wmsd.warehouse.directory.store import CLIENTS, PARTNERS, WAREHOUSES
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.similar_codes import Key, codes_by_key, keys_of, nearest

UNKNOWN: Final = re.compile("^is not an? (.+) of this company$")
TABLES: Final[Mapping[str, str]] = {
    "article": "articles",
    "packaging type": "packaging_types",
    **{kind.noun: kind.table for kind in (CLIENTS, PARTNERS, WAREHOUSES)},
    **{kind.table.noun: kind.table.name for kind in DOCUMENTS},
}
"""Those that the sentence may name, and their tables."""


def with_similar_codes(tx: Transaction, errors: Iterable[Wrong]) -> list[Wrong]:
    """The errors, and where a code is unknown, the one that differs from it in capitals and blanks only, or else
    in signs too. Where there are several, none is named. Each table that is concerned is read once.
    """
    errors = list(errors)
    wanted: dict[str, set[Key]] = {}
    for each in errors:
        if (table := _table(each)) is not None and each.cell:
            wanted.setdefault(table, set()).update(keys_of(each.cell))
    found = {table: codes_by_key(tx, table, keys) for table, keys in wanted.items()}
    return [_with_meant(each, found.get(_table(each) or "", {})) for each in errors]


def _table(error: Wrong) -> str | None:
    named = UNKNOWN.match(error.sentence)
    return None if named is None else TABLES.get(named[1])


def _with_meant(error: Wrong, codes: Mapping[Key, str | None]) -> Wrong:
    code = nearest(keys_of(error.cell or ""), codes)
    return error if code is None else replace(error, sentence=f"{error.sentence}; {code} is the nearest code")
