"""Numbers as people type them into forms: what the pages print is taken, and what may mean two is asked."""

from decimal import Decimal
from typing import Final

from wmsd.base.decimal_marks import MARKS, SIGN_OF, Mark, readings
from wmsd.interfaces.pages.language import formats
from wmsd.interfaces.pages.language import translated as _

MOST_DIGITS: Final = 18
"""Of a whole number. Those of more are refused as any other that is too large."""
LONGEST: Final = 100
"""Characters that are read as a number."""


def read_number(text: str, is_whole: bool = False) -> int | Decimal:
    """Raises ValueError with a sentence. `is_whole`: the field takes no fraction."""
    found = _number(text.strip(), is_whole)
    if found.adjusted() < MOST_DIGITS and found == found.to_integral_value():
        return int(found)
    if is_whole:
        raise ValueError(_("must be a whole number, such as 30"))
    return found


def _number(text: str, is_whole: bool) -> Decimal:
    own = _own_mark()
    found = {} if len(text) > LONGEST or "e" in text.lower() else readings(text)
    if not found:
        raise ValueError(
            _("must be a whole number, such as 30") if is_whole else _("must be a number, such as 12.5")
        )
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    if SIGN_OF[own] in text:  # `1,234` with a decimal comma, where people write one
        return found[own]
    if is_whole:
        return found[own]
    fraction = found[next(mark for mark in MARKS if mark != own)]
    written = {"whole": shown(found[own]), "fraction": shown(fraction)}
    raise ValueError(_("may mean two numbers: write %(whole)s, or %(fraction)s") % written)


def shown(value: Decimal | int) -> str:
    """The number in a form: with the decimal mark of the page's language, and without groups."""
    return f"{Decimal(value).normalize():f}".replace(".", formats().decimal)


def _own_mark() -> Mark:
    return next(mark for mark in MARKS if SIGN_OF[mark] == formats().decimal)
