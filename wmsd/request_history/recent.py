"""The last requests of each company in memory.

The memory is limited for each company and for all companies together.
"""

from collections import OrderedDict, deque
from dataclasses import field
from typing import Final

from wmsd.base.dataclass import dataclass

MOST: Final = 500
"""How many requests of one company are in memory, at most."""
MOST_BYTES_OF_A_COMPANY: Final = 1_000_000
MOST_BYTES: Final = 16_000_000
"""How many bytes the requests of all companies may use in memory. Above this limit, wmsd removes the requests of
the company that has sent none for the longest time. The files still contain them.
"""


@dataclass(slots=True)
class _Lines:
    lines: deque[bytes] = field(default_factory=deque)
    bytes: int = 0


class Recent:
    def __init__(self) -> None:
        self._companies: OrderedDict[int, _Lines] = OrderedDict()
        self._bytes = 0

    def add(self, company_id: int, line: bytes) -> None:
        own = self._companies.setdefault(company_id, _Lines())
        self._companies.move_to_end(company_id)
        own.lines.append(line)
        self._count(own, len(line))
        while len(own.lines) > MOST or own.bytes > MOST_BYTES_OF_A_COMPANY:
            self._count(own, -len(own.lines.popleft()))
        while self._bytes > MOST_BYTES:
            _, dropped = self._companies.popitem(last=False)
            self._bytes -= dropped.bytes

    def of(self, company_id: int) -> list[bytes]:
        """Return the lines of a company, the newest first."""
        own = self._companies.get(company_id)
        return [] if own is None else list(reversed(own.lines))

    def _count(self, own: _Lines, size: int) -> None:
        own.bytes += size
        self._bytes += size
