"""Numbers as people and spreadsheets write them: `1234.5`, `1.234,5`, `1 234,5`, `1,234.5`.

The decimal mark is a point or a comma. Some texts, such as `1.000`, can be read with either mark, but their value
depends on the mark. Therefore wmsd reads each cell of a file with both marks. Some cells can be read with only one
of the two marks. These cells show which mark the file uses. If a person types an ambiguous number, wmsd does not
guess the mark, but asks which value is meant.
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
"""The characters that may separate groups of three digits, in addition to the other decimal mark."""


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
    """Return the number in the cell, read with the decimal mark `mark`. Raise ValueError with an error message if
    the cell has no number.
    """
    found = PATTERNS[mark].fullmatch(cell.strip())
    if found is None:
        raise ValueError(NO_NUMBER[mark])
    whole = NOT_DIGITS.sub("", found["whole"] or "0")
    part = found["part"] or found["only"] or "0"
    return Decimal(f"{found['sign']}{whole}.{part}{found['power'] or ''}")


def number_readings(cell: str) -> dict[Mark, Decimal]:
    """Read the cell once with each decimal mark. Return the numbers by mark. If the cell cannot be read with a
    mark, the result does not contain this mark.
    """
    found: dict[Mark, Decimal] = {}
    for mark in MARKS:
        try:
            found[mark] = read(cell, mark)
        except ValueError:
            continue
    return found


def read_typed(text: str) -> Decimal:
    """Return the number that a person has typed with a decimal point.

    Raise ValueError if the text is not a number, or if the text can mean two numbers. The error is a sentence for
    the person, in the second case a question.
    """
    number = read(text, "point")
    if both := two_meanings(text):
        raise ValueError(mark_question(*map(plain_number, both)))
    return number


def two_meanings(text: str) -> tuple[Decimal, Decimal] | None:
    """Return both meanings of a text such as `1.234`: first with groups of three digits, then with a fraction.

    Return None if the text means only one number or is no number.
    """
    if text.isdecimal():  # most numbers, and faster than reading them twice
        return None
    found = sorted(set(number_readings(text).values()), key=abs)
    return (found[1], found[0]) if len(found) > 1 else None


def mark_question(whole: str, fraction: str) -> str:
    """Return the error text that asks the user to write one of two numbers. `whole` and `fraction` are these
    numbers.
    """
    return f"can mean two numbers: write {whole} or {fraction}"


def plain_number(number: Decimal, sign: str = ".") -> str:
    """Return the number as text, without digit groups and without an exponent. `sign` is the decimal mark.

    The text never has two meanings (see `unambiguous`).
    """
    return unambiguous(f"{number.normalize():f}".replace(".", sign))


def unambiguous(text: str) -> str:
    """Return `text`, a number without digit groups, in a form with only one meaning.

    If its three decimals can be read as a group of digits, append a zero: `1.2340` for `1.234`.
    """
    return f"{text}0" if two_meanings(text) else text
