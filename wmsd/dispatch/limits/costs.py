"""What companies, people and addresses cost the service: time of the processor, what they have sent, and how often
they were refused.

The time is that in which their requests kept the event loop, and that of the threads and the processes that worked
for them. What nobody can be charged with is left out: reading and writing connections, commits, and what the
service does for itself.
"""

from collections import OrderedDict
from collections.abc import Iterator
from math import exp
from typing import Final, Literal, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass

Payer = Literal["company", "person", "address"]
REMEMBERED_SECONDS: Final = 60.0
"""After so many seconds a third of a cost is remembered."""
MOST_REMEMBERED: Final = 10_000
BYTES_OF_A_SECOND: Final = 50_000_000
"""Answers of so many bytes cost as much as a second of the processor."""
REFUSALS: Final = frozenset({429, 503, 507})
"""The statuses of requests that were too many, or too much."""


class Payers(NamedTuple):
    """Whom work is charged to. "" where there is none."""

    company: str = ""
    person: str = ""
    address: str = ""

    def each(self) -> list[tuple[Payer, str]]:
        named: tuple[tuple[Payer, str], ...] = (
            ("company", self.company),
            ("person", self.person),
            ("address", self.address),
        )
        return [(kind, name) for kind, name in named if name]


@dataclass(slots=True)
class Noted:
    """What requests have cost, such as those of a person in a company that are not charged yet."""

    requests: int = 0
    refused: int = 0
    sent: int = 0
    """Bytes of the bodies of requests that were not refused."""
    seconds: float = 0.0


@dataclass(slots=True)
class Cost(Noted):
    """Since the start. `lately` is what there was in the last minute, in seconds: what is older fades away.
    `weight` is the same, with the bytes of long answers.
    """

    at: float = 0.0
    """The moment of `lately` and `weight`, on the monotonic clock."""
    lately: float = 0.0
    weight: float = 0.0

    def fade(self, now: float) -> None:
        left = exp((self.at - now) / REMEMBERED_SECONDS)
        self.lately, self.weight, self.at = self.lately * left, self.weight * left, now


class Costs:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[tuple[Payer, str], Cost] = OrderedDict()
        self._noted: dict[tuple[int, int], Noted] = {}

    def note(self, company_id: int, user_id: int, seconds: float, sent: int, status: int) -> None:
        """Notes a request of somebody; 0 where there is no company, or no user. It is charged with many others at
        once, because this is done for each.
        """
        noted = self._of(company_id, user_id)
        noted.requests += 1
        noted.seconds += seconds
        if status in REFUSALS:
            noted.refused += 1
        elif status < 400:
            noted.sent += sent

    def note_beside(self, company_id: int, user_id: int, seconds: float) -> None:
        """Notes what a thread or a process has done for somebody, beside the event loop."""
        self._of(company_id, user_id).seconds += seconds

    def _of(self, company_id: int, user_id: int) -> Noted:
        noted = self._noted.get((company_id, user_id))
        if noted is None:
            noted = self._noted[company_id, user_id] = Noted()
        return noted

    def charge(self, payers: Payers, seconds: float, size: int = 0) -> None:
        """Charges work at once. `size`: of what was sent, in bytes."""
        for payer in payers.each():
            self._pay(payer, seconds, size)

    def of(self, payers: Payers) -> list[float]:
        """The weights of the company, the person and the address. Many people may share an address, so it comes
        last.
        """
        return [self.weight(kind, name) or 0.0 for kind, name in payers.each()]

    def weight(self, kind: Payer, name: str) -> float | None:
        """None when it has never been charged."""
        self._charge_noted()
        found = self._known.get((kind, name))
        return None if found is None else self._faded(found).weight

    def most(self, kind: Payer, number: int) -> list[tuple[str, Cost]]:
        """So many payers of a kind who cost most now, with what they cost."""
        self._charge_noted()
        found = [(name, self._faded(cost)) for (each, name), cost in self._known.items() if each == kind]
        found.sort(key=lambda each: (-each[1].lately, -each[1].refused, each[0]))
        return found[:number]

    def _charge_noted(self) -> None:
        noted, self._noted = self._noted, {}
        for (company_id, user_id), each in noted.items():
            for payer in Payers(str(company_id or ""), str(user_id or "")).each():
                cost = self._pay(payer, each.seconds, 0)
                cost.requests += each.requests
                cost.refused += each.refused
                cost.sent += each.sent

    def _pay(self, payer: tuple[Payer, str], seconds: float, size: int) -> Cost:
        cost = self._known.get(payer)
        if cost is None:
            cost = self._known[payer] = Cost(at=self._clock.monotonic())
            if len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        self._faded(cost).seconds += seconds
        cost.lately += seconds
        cost.weight += seconds + size / BYTES_OF_A_SECOND
        self._known.move_to_end(payer)
        return cost

    def _faded(self, cost: Cost) -> Cost:
        cost.fade(self._clock.monotonic())
        return cost

    def __iter__(self) -> Iterator[tuple[Payer, str]]:
        """Who has been charged, whoever paid last at the end."""
        return iter(self._known)
