"""Numbers for people: numbers that people type into forms, sizes, and durations.

Forms accept numbers as the pages show them. If a number can have two meanings, the form asks the user.
"""

from decimal import Decimal
from typing import Final

from wmsd.base import byte_sizes
from wmsd.base.decimal_marks import mark_question, number_readings, plain_number, two_meanings
from wmsd.interfaces.pages.kit.text.language import formats, translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _

MOST_DIGITS: Final = 18
"""A whole number with more digits is not read as an int."""
LONGEST: Final = 100
"""The maximum number of characters of a text that is read as a number."""
WHOLE: Final = "30"
"""An example of a whole number, for errors."""
BLANK: Final = "\u202f"
SPANS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def read_number(text: str, is_whole: bool = False) -> int | Decimal:
    """Return the number that a person typed.

    If `is_whole` is True, the number must not have a fraction. Raise ValueError with a sentence for people if the
    text is invalid, or can mean two numbers.
    """
    found = _number(text.strip(), is_whole)
    if found.adjusted() < MOST_DIGITS and found == found.to_integral_value():
        return int(found)
    if is_whole:
        raise _no_whole(WHOLE)
    return found


def _number(text: str, is_whole: bool) -> Decimal:
    found = {} if len(text) > LONGEST or "e" in text.lower() else number_readings(text)
    if not found:
        raise _no_whole(WHOLE) if is_whole else ValueError(_("must be a number, such as 12.5"))
    both = two_meanings(text)
    if both is None:
        return next(iter(found.values()))
    whole, fraction = both
    if is_whole and fraction != fraction.to_integral_value():
        raise _no_whole(number_in_form(whole))
    raise ValueError(translate_error(mark_question(number_in_form(whole), number_in_form(fraction))))


def _no_whole(example: str) -> ValueError:
    return ValueError(_("must be a whole number, such as %(example)s") % {"example": example})


def number_in_form(value: Decimal | int) -> str:
    """Return a number for a form, without groups and with the decimal mark of the page's language.

    The form accepts the number in this format.
    """
    return plain_number(Decimal(value), formats().decimal)


def size(number: int) -> str:
    """Return a number of bytes as text with three digits, such as `1.25 GB`."""
    return _written(*byte_sizes.scaled(number))


def duration(seconds: int) -> str:
    """Return a duration as text in its two largest units, such as `3 d 4 h`."""
    parts: list[str] = []
    left = max(0, seconds)
    for unit, length in SPANS:
        if left >= length or (parts and left):
            parts.append(_measured(Decimal(left // length), 0, unit))
            left %= length
    return " ".join(parts[:2]) or _measured(Decimal(), 0, SPANS[-1][0])


def took(seconds: Decimal | int) -> str:
    """Return a short duration as text, such as `3 ms` or `2.4 s`."""
    return _measured(Decimal(seconds) * 1000, 0, "ms") if seconds < 1 else _measured(Decimal(seconds), 1, "s")


def _measured(value: Decimal, places: int, unit: str) -> str:
    return _written(f"{value:.{places}f}", unit)


def _written(value: str, unit: str) -> str:
    return f"{value}{BLANK}{unit}".replace(".", formats().decimal)
