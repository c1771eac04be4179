"""The code that was meant by one that no record has: `MAIN` by `main`, `BOLT-8` by `Bolt 8`."""

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
    """The code in this table that was meant by what is none, if there is one such."""
    keys = keys_of(typed)
    return nearest(keys, codes_by_key(tx, table, set(keys)))


def no_such(tx: Transaction, noun: str, table: str, typed: str) -> Problem:
    """It names the code, and the one that was meant."""
    return not_found(f"{noun} as {typed}", similar_code(tx, table, typed))


def codes_by_key(tx: Transaction, table: str, wanted: set[Key]) -> dict[Key, str | None]:
    """By what they have in common with those that are wanted; None for several."""
    found: dict[Key, str | None] = {}
    for (code,) in tx.rows(f"SELECT code FROM {table}"):
        for key in keys_of(code):
            if key in wanted:
                found[key] = None if key in found else code
    return found


def keys_of(code: str) -> list[Key]:
    """What it has in common with codes that may be meant: the nearest first. Digits with a sign between them stay
    apart: `1-15` is not `11-5`, nor `10.5` `105`.
    """
    folded = composed_text(code).casefold()
    without_signs = "|".join("".join(filter(str.isalnum, part)) for part in BETWEEN_DIGITS.split(folded))
    return [Key("blanks", "".join(folded.split())), *([Key("signs", without_signs)] if without_signs else [])]


def nearest(keys: Iterable[Key], codes: Mapping[Key, str | None]) -> str | None:
    return next((codes[key] for key in keys if key in codes), None)
