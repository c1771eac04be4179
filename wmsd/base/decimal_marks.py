"""Numbers as people and spreadsheets write them: `1234.5`, `1.234,5`, `1 234,5`, `1,234.5`.

A number such as `1.000` is one thing with a decimal point and another with a decimal comma. So a cell is read
under both marks, and what it says by itself follows from which of them make a number of it. What a person types is
never taken for one of two: it is asked.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal, get_args

Mark = Literal["point", "comma"]
MARKS: Final[tuple[Mark, ...]] = get_args(Mark)
SIGN_OF: Final[Mapping[Mark, str]] = {"point": ".", "comma": ","}
OTHER: Final[Mapping[Mark, Mark]] = {"point": "comma", "comma": "point"}
EXAMPLE: Final[Mapping[Mark, str]] = {"point": "12.5", "comma": "12,5"}
NO_NUMBER: Final[Mapping[Mark, str]] = {
    mark: f"must be a number with a decimal {mark}, such as {example}" for mark, example in EXAMPLE.items()
}
BLANKS: Final = " \u00a0\u202f\u2009'\u2019"
"""What may stand between groups of three digits, beside the other mark."""


def _pattern(mark: Mark) -> "re.Pattern[str]":
    sign, other = re.escape(SIGN_OF[mark]), re.escape(SIGN_OF[OTHER[mark]])
    grouped = rf"[1-9][0-9]{{0,2}}(?P<between>[{other}{BLANKS}])[0-9]{{3}}(?:(?P=between)[0-9]{{3}})*"
    return re.compile(
        rf"(?P<sign>[+-]?)(?:(?P<whole>{grouped}|[0-9]+)(?:{sign}(?P<part>[0-9]*))?|{sign}(?P<only>[0-9]+))"
        r"(?P<power>e[+-]?[0-9]{1,3})?",
        re.ASCII | re.IGNORECASE,
    )


PATTERNS: Final[Mapping[Mark, "re.Pattern[str]"]] = {mark: _pattern(mark) for mark in MARKS}
NOT_DIGITS: Final = re.compile(r"[^0-9]")


def read(cell: str, mark: Mark) -> Decimal:
    """The number with this decimal mark. Raises ValueError with a sentence."""
    found = PATTERNS[mark].fullmatch(cell.strip())
    if found is None:
        raise ValueError(NO_NUMBER[mark])
    whole = NOT_DIGITS.sub("", found["whole"] or "0")
    part = found["part"] or found["only"] or "0"
    return Decimal(f"{found['sign']}{whole}.{part}{found['power'] or ''}")


def number_readings(cell: str) -> dict[Mark, Decimal]:
    """What the cell is under each mark that makes a number of it."""
    found: dict[Mark, Decimal] = {}
    for mark in MARKS:
        try:
            found[mark] = read(cell, mark)
        except ValueError:
            continue
    return found


def read_typed(text: str) -> Decimal:
    """What a person has typed, with a decimal point; where it may mean two numbers, it is asked. Raises ValueError
    with a sentence.
    """
    number = read(text, "point")
    if both := two_meanings(text):
        raise ValueError(mark_question(*map(plain_number, both)))
    return number


def two_meanings(text: str) -> tuple[Decimal, Decimal] | None:
    """What a text such as `1.234` is with groups of three digits, and what it is with a fraction; None where it
    means one number, or none.
    """
    found = sorted(set(number_readings(text).values()), key=abs)
    return (found[1], found[0]) if len(found) > 1 else None


def mark_question(whole: str, fraction: str) -> str:
    """`whole` and `fraction` are both meanings, as they are to be written."""
    return f"may mean two numbers: write {whole}, or {fraction}"


def plain_number(number: Decimal, sign: str = ".") -> str:
    """Without groups and powers, and with this decimal sign: never what may mean two numbers."""
    return unambiguous(f"{number.normalize():f}".replace(".", sign))


def unambiguous(text: str) -> str:
    """The number written so that nobody takes its fraction for a group of three digits. It has no groups."""
    return f"{text}0" if two_meanings(text) else text
