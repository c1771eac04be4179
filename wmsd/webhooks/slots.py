"""How many attempts are under way at a time: in total, of one company, and from it to one host.

Those whose receiver has just answered have a share of their own, so that they never wait for receivers that hang.
"""

from collections import Counter
from typing import Final

IN_TOTAL: Final = 128
PER_COMPANY: Final = 64
"""So that the receivers of one company, all of them hanging, leave room for those of another."""
PER_HOST: Final = 16
"""Of a company: another may have a receiver at the same host. Of each share, as all of these."""
PER_SUBSCRIPTION: Final = 16


class Slots:
    def __init__(self) -> None:
        self._taken: Counter[bool] = Counter()
        self._taken_of_company: Counter[tuple[bool, int]] = Counter()
        self._taken_of_host: Counter[tuple[bool, int, str]] = Counter()

    def take(self, is_proven: bool, company_id: int, host: str) -> bool:
        """Whether there was one."""
        of_company, of_host = (is_proven, company_id), (is_proven, company_id, host)
        if (
            self._taken[is_proven] >= IN_TOTAL
            or self._taken_of_company[of_company] >= PER_COMPANY
            or self._taken_of_host[of_host] >= PER_HOST
        ):
            return False
        self._taken[is_proven] += 1
        self._taken_of_company[of_company] += 1
        self._taken_of_host[of_host] += 1
        return True

    def give_back(self, is_proven: bool, company_id: int, host: str) -> None:
        of_host = (is_proven, company_id, host)
        self._taken[is_proven] -= 1
        self._taken_of_company[is_proven, company_id] -= 1
        self._taken_of_host[of_host] -= 1
        if not self._taken_of_host[of_host]:
            del self._taken_of_host[of_host]
