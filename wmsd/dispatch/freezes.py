"""Freezes a company that is being moved: reads work as before, and changes are refused.

`platform.db` says whether a company is frozen, and wmsd checks this when it admits a request. A request that was
admitted before the freeze may still be running. If it wants to change something, `Freezes` refuses the change, or
makes the freeze wait until the request ends.
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
"""If a freeze is older than this, the health check reports a problem, because someone may have forgotten the
freeze.
"""
RETRY_SECONDS: Final = 60
FROZEN: Final = (
    "{} is being moved and has accepted no changes since {}; reading still works. Try again later, "
    "or ask the platform admin for the new address."
)


def check_not_frozen(company: Company) -> None:
    """Raise Problem (503) if the company is frozen."""
    if company.frozen_at is not None:
        raise frozen(company.code, company.frozen_at)


def frozen(code: str, since: str) -> Problem:
    return unavailable(FROZEN.format(code, since), RETRY_SECONDS)


def age(since: str, now: datetime) -> timedelta:
    """Return the age of a freeze in whole seconds."""
    return max(timedelta(seconds=int((now - timestamps.from_text(since)).total_seconds())), timedelta())


def freeze_sentence(code: str, since: str, now: datetime) -> str:
    return f"{code} since {since} ({age(since, now)})"


class Freezes:
    """The freezes that began in this process. They also stop changes by requests that were admitted before the
    freeze.
    """

    def __init__(self) -> None:
        self._since: dict[int, str] = {}
        self._flows = Counter[int]()

    def begin(self, company_id: int, since: str) -> None:
        self._since[company_id] = since

    def end(self, company_id: int) -> None:
        self._since.pop(company_id, None)

    def check(self, company: Company) -> None:
        """Raise Problem (503) if the company is frozen. Any thread may call this."""
        check_not_frozen(company)
        since = self._since.get(company.id)
        if since is not None:
            raise frozen(company.code, since)

    @contextmanager
    def flow(self, company: Company) -> Iterator[None]:
        """Keep the company from being frozen until this context ends. Use this for an operation that waits for
        something outside the database before it writes. Raise Problem (503) if the company is already frozen.
        """
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
