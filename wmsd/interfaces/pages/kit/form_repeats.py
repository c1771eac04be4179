"""Has a form of administration done once, however often it is sent.

The operations of a company keep the answer with the key of the form. Those of the installation do not, since an
answer may hold a token or the code of a link.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.interfaces.pages.kit.workplace import AdminWorkplace, Workplace

MOST_KEYS: Final = 2000
AGAIN: Final = "This form was sent already, and what it asks for is done or under way. Look in the list."


@dataclass(slots=True)
class SentForm:
    """`is_done`: whether what the form asks for was done. Otherwise it may be sent again."""

    is_done: bool = False


@contextmanager
def sent_once(at: Workplace, key: str | None) -> Iterator[SentForm]:
    """While the form with this key is worked on. Raises Problem (409) for one that was sent before."""
    found = SentForm(is_done=not isinstance(at, AdminWorkplace) or not key)
    if found.is_done:
        yield found
        return
    keys, own = at.door.sent_keys, (at.person.browser.form_token, key or "")
    if own in keys:
        raise Problem("INVALID_STATUS", AGAIN)
    keys[own] = None
    if len(keys) > MOST_KEYS:
        keys.popitem(last=False)
    try:
        yield found
    finally:
        if not found.is_done:
            keys.pop(own, None)
