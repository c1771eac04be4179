"""Suggests known codes that are similar to an unknown code. For example, it suggests `MAIN` for `main`, and
`BOLT-8` for `Bolt 8`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.base.letters import composed_text
from wmsd.base.problems import Problem, not_found
from wmsd.db.engine.transaction import Transaction

BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\W_]+(?=\d)")


class Key(NamedTuple):
    without: str
    text: str


def similar_code(tx: Transaction, table: str, typed: str) -> str | None:
    """Return the code in `table` that the user probably meant with `typed`.

    Return None if no code is similar, or if several codes are similar.
    """
    keys = keys_of(typed)
    return nearest(keys, codes_by_key(tx, table, set(keys)))


def no_such(tx: Transaction, noun: str, table: str, typed: str) -> Problem:
    """Return a Problem (404) that names the unknown code `typed`, and a similar known code if there is one."""
    return not_found(f"{noun} as {typed}", similar_code(tx, table, typed))


def codes_by_key(tx: Transaction, table: str, wanted: set[Key]) -> dict[Key, str | None]:
    """Find the codes in `table` that have one of the keys in `wanted`. Return each code by its key. If several
    codes have the same key, its value is None. If no code has the key, the result does not contain it.
    """
    found: dict[Key, str | None] = {}
    for (code,) in tx.rows(f"SELECT code FROM {table}"):
        for key in keys_of(code):
            if key in wanted:
                found[key] = None if key in found else code
    return found


def keys_of(code: str) -> list[Key]:
    """Return the keys of a code, the most exact key first. Two codes are similar if they have a key in common.

    Upper and lower case are the same. Spaces and punctuation are ignored, except between two digits: `1-15` is not
    similar to `11-5`, and `10.5` is not similar to `105`.
    """
    folded = composed_text(code).casefold()
    without_signs = "|".join("".join(filter(str.isalnum, part)) for part in BETWEEN_DIGITS.split(folded))
    return [Key("blanks", "".join(folded.split())), *([Key("signs", without_signs)] if without_signs else [])]


def nearest(keys: Iterable[Key], codes: Mapping[Key, str | None]) -> str | None:
    return next((codes[key] for key in keys if key in codes), None)
