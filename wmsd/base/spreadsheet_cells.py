"""Dates, times, truth values and codes as the spreadsheets of Europe write them."""

import re
import unicodedata
from datetime import date, datetime
from typing import Final

TRUTH: Final = {
    "English": ("true", "false"),
    "English, asked": ("yes", "no"),
    "German": ("wahr", "falsch"),
    "German, asked": ("ja", "nein"),
    "Romanian": ("adev\u0103rat", "fals"),
    "Romanian without marks": ("adevarat", "fals"),
    "Romanian, asked": ("da", "nu"),
    "French": ("vrai", "faux"),
    "French, asked": ("oui", "non"),
    "Polish": ("prawda", "fa\u0142sz"),
    "Polish, asked": ("tak", "nie"),
    "Czech": ("pravda", "nepravda"),
    "Czech, asked": ("ano", "ne"),
    "Hungarian": ("igaz", "hamis"),
    "Hungarian, asked": ("igen", "nem"),
    "Italian": ("vero", "falso"),
    "Italian, asked": ("s\u00ec", "no"),
    "Spanish": ("verdadero", "falso"),
    "Spanish, asked": ("s\u00ed", "no"),
    "Dutch": ("waar", "onwaar"),
    "Dutch, asked": ("ja", "nee"),
    "a figure": ("1", "0"),
}
TRUE: Final = frozenset(true for true, _ in TRUTH.values())
FALSE: Final = frozenset(false for _, false in TRUTH.values())
LONGEST_TRUTH: Final = 20
"""The maximum length of a truth value, such as "true" or "no". Each accent counts as a character. Longer texts are
refused, because the time to combine letters and accents grows with the square of the length.
"""

DOTTED: Final = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(?:[ T]+(.+))?", re.ASCII)
"""A date such as `31.12.2026`. With dots the day always comes first."""
SLASHED: Final = re.compile(r"[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,4}(?:[ T].*)?", re.ASCII)
"""A date such as `4/5/2026`, which is in April in one country and in May in another."""
CLOCK: Final = re.compile(
    r"([0-9]{1,2})(:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?) ?(Z|[+-][0-9]{2}:?[0-9]{2})?", re.ASCII
)
SLASHES: Final = "is not clear with slashes: write 31.12.2026 or 2026-12-31"
NO_OFFSET: Final = "must have an offset from UTC, such as 24.11.2026 10:00+02:00 or 2026-11-24T10:00:00Z"
POWER: Final = r"[+-]?[0-9](?:[.,][0-9]+)?E[+-][0-9]{2,3}"
SHORTENED: Final = re.compile(POWER, re.ASCII | re.IGNORECASE)
"""A long number that a spreadsheet has shortened: `4,00638E+12`. Texts such as `24E-1` or `5E-3` do not match. No
spreadsheet shortens a number in this form, so these texts are codes.
"""
DAMAGED: Final = (
    "is a number that a spreadsheet has shortened, and its last digits are lost. "
    "Format the column as text, enter the value again, and save the file again"
)


def read_flag(cell: str) -> bool:
    """Return the truth value in the cell. Raise ValueError with a sentence if the cell has no truth value."""
    text = cell.strip()
    word = unicodedata.normalize("NFC", text[:LONGEST_TRUTH]).lower()
    if len(text) > LONGEST_TRUTH or word not in TRUE | FALSE:
        raise ValueError("must be true or false")
    return word in TRUE


def read_date(cell: str) -> str:
    """Return the date in ISO 8601. A text that is not a date with dots is returned unchanged.

    Raise ValueError with a sentence if the date does not exist or has slashes.
    """
    text, found = _dotted(cell)
    return text if found is None or found[4] is not None else _day(found)


def read_moment(cell: str) -> str:
    """Return the time in ISO 8601. If the text has no date with dots, return the stripped text unchanged.

    Raise ValueError with a sentence if the time is not valid, has slashes, or has no offset from UTC.
    """
    text, found = _dotted(cell)
    if found is None:
        return text
    clock = CLOCK.fullmatch((found[4] or "").strip())
    if clock is None:
        raise ValueError("must be a date and time, such as 24.11.2026 10:00+02:00 or 2026-11-24T10:00:00Z")
    if clock[3] is None:
        raise ValueError(NO_OFFSET)
    moment = f"{_day(found)}T{clock[1]:0>2}{clock[2]}{clock[3]}"
    try:
        return datetime.fromisoformat(moment).isoformat()
    except ValueError:
        raise ValueError("must be a date and time that exist, such as 24.11.2026 10:00+02:00") from None


def _dotted(cell: str) -> "tuple[str, re.Match[str] | None]":
    """Return the stripped text of the cell and its match with `DOTTED`. The match is None if the text is not a
    date with dots.

    Raise ValueError for a date with slashes.
    """
    text = cell.strip()
    if SLASHED.fullmatch(text):
        raise ValueError(SLASHES)
    return text, DOTTED.fullmatch(text)


def _day(found: "re.Match[str]") -> str:
    try:
        return date(int(found[3]), int(found[2]), int(found[1])).isoformat()
    except ValueError:
        raise ValueError("must be a date that exists, such as 31.12.2026") from None


class AsText(str):
    """A cell that is marked as text, such as `'1E+12` or `="1E+12"`. Spreadsheets do not change such a cell."""

    __slots__ = ()


def read_name(cell: str) -> str:
    """Return the text of a cell that contains a code, unchanged. Raise ValueError if the cell has a number that a
    spreadsheet has shortened.
    """
    if not isinstance(cell, AsText) and SHORTENED.fullmatch(cell.strip()):
        raise ValueError(DAMAGED)
    return cell
