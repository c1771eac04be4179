"""Has a form of administration done once, however often it is sent.

The operations of a company keep the answer with the key of the form. Those of the installation do not, since an
answer may hold a token or the code of a link.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.interfaces.pages.kit.workplace import AdminWorkplace, Workplace

MOST_KEYS: Final = 2000
AGAIN: Final = "This form was sent already, and what it asks for is done or under way. Look in the list."


class SentOnce:
    @dataclass(slots=True)
    class Key:
        """`is_done`: whether what the form asks for was done. Otherwise it may be sent again."""

        is_done: bool = False

    def __init__(self) -> None:
        self._keys: OrderedDict[tuple[str, str], None] = OrderedDict()

    @contextmanager
    def of(self, at: Workplace, key: str | None) -> Iterator[Key]:
        """While the form with this key is worked on. Raises Problem (409) for one that was sent before."""
        found = self.Key(is_done=not isinstance(at, AdminWorkplace) or not key)
        if found.is_done:
            yield found
            return
        own = at.person.browser.form_token, key or ""
        if own in self._keys:
            raise Problem("INVALID_STATUS", AGAIN)
        self._keys[own] = None
        if len(self._keys) > MOST_KEYS:
            self._keys.popitem(last=False)
        try:
            yield found
        finally:
            if not found.is_done:
                self._keys.pop(own, None)
