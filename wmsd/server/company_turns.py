"""The order in which a job looks at companies, if it cannot look at all of them in one run."""

from collections.abc import Iterable
from itertools import count


class CompanyTurns:
    """Remembers the order of the companies' last turns.

    The companies whose last turn is longest ago come first. So a company whose file always fails does not delay
    other companies.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._last: dict[int, int] = {}
        """The number of the last turn of each company."""

    def note(self, company_id: int) -> None:
        """Record that it is the company's turn now."""
        self._last[company_id] = next(self._numbers)

    def first(self, companies: Iterable[int], most: int) -> list[int]:
        """Return at most `most` of the companies, in the order of their turns."""
        return sorted(companies, key=lambda each: (self._last.get(each, 0), each))[:most]
