"""The freeze of a company that is being moved: it is read as before, and takes no changes.

That a company is frozen stands in `platform.db`, and so with the company that a request was admitted to. A
request that was admitted before the freeze may still be under way: `Freezes` stops it, or lets the freeze wait for
its end.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.problems import Problem, unavailable
from wmsd.contract.context import Company

LONG: Final = timedelta(hours=24)
"""A freeze that lasts longer was perhaps forgotten: it degrades health."""
RETRY_SECONDS: Final = 60
FROZEN: Final = (
    "{} is being moved and has taken no changes since {}. Nothing was changed; reading works as before. Try again "
    "later, or ask the site admin for its new address."
)


def check_not_frozen(company: Company) -> None:
    """Raises Problem (503) when the company takes no changes."""
    if company.frozen_at is not None:
        raise frozen(company.code, company.frozen_at)


def frozen(code: str, since: str) -> Problem:
    return unavailable(FROZEN.format(code, since), RETRY_SECONDS)


def age(since: str, now: datetime) -> timedelta:
    """Of a freeze, in whole seconds."""
    return max(timedelta(seconds=int((now - timestamps.from_text(since)).total_seconds())), timedelta())


def freeze_sentence(code: str, since: str, now: datetime) -> str:
    return f"{code} since {since} ({age(since, now)})"


class Freezes:
    """What this process knows of freezes that began after a request was admitted."""

    def __init__(self) -> None:
        self._since: dict[int, str] = {}
        self._flows = Counter[int]()

    def begin(self, company_id: int, since: str) -> None:
        self._since[company_id] = since

    def end(self, company_id: int) -> None:
        self._since.pop(company_id, None)

    def check(self, company: Company) -> None:
        """Raises Problem (503) when the company takes no changes now. May be called on any thread."""
        check_not_frozen(company)
        since = self._since.get(company.id)
        if since is not None:
            raise frozen(company.code, since)

    @contextmanager
    def flow(self, company: Company) -> Iterator[None]:
        """For an operation that writes and waits in between: a freeze waits for its end. Raises as `check`."""
        self.check(company)
        self._flows[company.id] += 1
        try:
            yield
        finally:
            self._flows[company.id] -= 1
            if not self._flows[company.id]:
                del self._flows[company.id]

    def has_flows(self, company_id: int) -> bool:
        return company_id in self._flows
