"""Numbers as people type them into forms: what the pages print is taken, and what may mean two is asked."""

from decimal import Decimal
from typing import Final

from wmsd.base.decimal_marks import asking, plain, readings, two_meanings
from wmsd.interfaces.pages.kit.text.language import formats, told
from wmsd.interfaces.pages.kit.text.language import translated as _

MOST_DIGITS: Final = 18
"""Of a whole number. Those of more are refused as any other that is too large."""
LONGEST: Final = 100
"""Characters that are read as a number."""
WHOLE: Final = "30"
"""An example of a whole number."""


def read_number(text: str, is_whole: bool = False) -> int | Decimal:
    """Raises ValueError with a sentence. `is_whole`: the field takes no fraction."""
    found = _number(text.strip(), is_whole)
    if found.adjusted() < MOST_DIGITS and found == found.to_integral_value():
        return int(found)
    if is_whole:
        raise _no_whole(WHOLE)
    return found


def _number(text: str, is_whole: bool) -> Decimal:
    found = {} if len(text) > LONGEST or "e" in text.lower() else readings(text)
    if not found:
        raise _no_whole(WHOLE) if is_whole else ValueError(_("must be a number, such as 12.5"))
    both = two_meanings(text)
    if both is None:
        return next(iter(found.values()))
    whole, fraction = both
    if is_whole and fraction != fraction.to_integral_value():
        raise _no_whole(shown(whole))
    raise ValueError(told(asking(shown(whole), shown(fraction))))


def _no_whole(example: str) -> ValueError:
    return ValueError(_("must be a whole number, such as %(example)s") % {"example": example})


def shown(value: Decimal | int) -> str:
    """The number in a form: with the decimal mark of the page's language, without groups, and as it is taken."""
    return plain(Decimal(value), formats().decimal)
