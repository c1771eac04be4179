"""How many attempts are under way at a time: in total, and to one host.

Those whose receiver has just answered have a share of their own, so that they never wait for receivers that hang.
"""

from collections import Counter
from typing import Final

IN_TOTAL: Final = 128
PER_HOST: Final = 16
"""Of each share."""
PER_SUBSCRIPTION: Final = 16


class Slots:
    def __init__(self) -> None:
        self._taken: Counter[bool] = Counter()
        self._taken_of_host: Counter[tuple[bool, str]] = Counter()

    def are_all_taken(self, is_proven: bool) -> bool:
        return self._taken[is_proven] >= IN_TOTAL

    def take(self, is_proven: bool, host: str) -> bool:
        """Whether there was one."""
        key = (is_proven, host)
        if self._taken[is_proven] >= IN_TOTAL or self._taken_of_host[key] >= PER_HOST:
            return False
        self._taken[is_proven] += 1
        self._taken_of_host[key] += 1
        return True

    def give_back(self, is_proven: bool, host: str) -> None:
        key = (is_proven, host)
        self._taken[is_proven] -= 1
        self._taken_of_host[key] -= 1
        if not self._taken_of_host[key]:
            del self._taken_of_host[key]
