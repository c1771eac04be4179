"""What companies, people and addresses cost the service: processor time, bytes sent, and refused requests.

Processor time includes the event loop, and the threads and processes that worked for a request. Some work is not
counted, because it belongs to nobody: reading from and writing to connections, commits, and the service's own
work.
"""

from collections import OrderedDict
from collections.abc import Iterator
from math import exp
from typing import Final, Literal, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass

Payer = Literal["company", "person", "address"]
REMEMBERED_SECONDS: Final = 60.0
"""How fast costs decay. After this many seconds, about a third of a cost is left."""
MOST_REMEMBERED: Final = 10_000
BYTES_OF_A_SECOND: Final = 50_000_000
"""Sending this many bytes in answers costs as much as one second of processor time."""
REFUSALS: Final = frozenset({429, 503, 507})
"""The statuses of requests that were refused because they were too many or too large."""


class Payers(NamedTuple):
    """The company, the person and the address that a piece of work is charged to. An empty text means nobody."""

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
    """The cost of several requests together."""

    requests: int = 0
    refused: int = 0
    sent: int = 0
    """The total size of the request bodies with which clients have written data. Refused and failed requests do
    not count.
    """
    seconds: float = 0.0


@dataclass(slots=True)
class Cost(Noted):
    """What a company, a person or an address has cost since the server started.

    `lately` is the recent processor time in seconds. It decays over about a minute. `weight` is `lately` plus the
    cost of the bytes of long answers.
    """

    at: float = 0.0
    """The time on the monotonic clock at which `lately` and `weight` were computed."""
    lately: float = 0.0
    weight: float = 0.0

    def decay(self, now: float) -> None:
        left = exp((self.at - now) / REMEMBERED_SECONDS)
        self.lately, self.weight, self.at = self.lately * left, self.weight * left, now


class Costs:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[tuple[Payer, str], Cost] = OrderedDict()
        self._noted: dict[tuple[int, int], Noted] = {}

    def note(self, company_id: int, user_id: int, seconds: float, sent: int, status: int) -> None:
        """Count a request of a company and a user. An id of 0 means that the request has none. `seconds` is the
        time that the task of the request used on the event loop. `sent` is the size in bytes of the body that the
        client sent, or 0 for a read. `status` is the status of the answer.

        The cost is charged later, together with the costs of further requests, because this method runs for each
        request.
        """
        noted = self._of(company_id, user_id)
        noted.requests += 1
        noted.seconds += seconds
        if status in REFUSALS:
            noted.refused += 1
        elif status < 400:
            noted.sent += sent

    def note_beside(self, company_id: int, user_id: int, seconds: float) -> None:
        """Count the seconds of work outside of the task of a request: on threads, in processes, and in units of
        work on the event loop. `note` counts the time of the task.
        """
        self._of(company_id, user_id).seconds += seconds

    def _of(self, company_id: int, user_id: int) -> Noted:
        noted = self._noted.get((company_id, user_id))
        if noted is None:
            noted = self._noted[company_id, user_id] = Noted()
        return noted

    def charge(self, payers: Payers, seconds: float, size: int = 0) -> None:
        """Charge work immediately. `size` is the number of bytes that were sent to the client."""
        for payer in payers.each():
            self._pay(payer, seconds, size)

    def of(self, payers: Payers) -> list[float]:
        """Return the `weight` of the company, of the person and of the address in `payers`, in this order. Many
        people may share an address, so the address comes last.
        """
        return [self.weight(kind, name) or 0.0 for kind, name in payers.each()]

    def weight(self, kind: Payer, name: str) -> float | None:
        """Return the `weight` of a company, a person or an address, or None if nothing was charged to it."""
        self._charge_noted()
        found = self._known.get((kind, name))
        return None if found is None else self._decayed(found).weight

    def most(self, kind: Payer, number: int) -> list[tuple[str, Cost]]:
        """Return the names and costs of the `number` companies, people or addresses (`kind`) with the highest
        recent cost.
        """
        self._charge_noted()
        found = [(name, self._decayed(cost)) for (each, name), cost in self._known.items() if each == kind]
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
        self._decayed(cost).seconds += seconds
        cost.lately += seconds
        cost.weight += seconds + size / BYTES_OF_A_SECOND
        self._known.move_to_end(payer)
        return cost

    def _decayed(self, cost: Cost) -> Cost:
        cost.decay(self._clock.monotonic())
        return cost

    def __iter__(self) -> Iterator[tuple[Payer, str]]:
        """Yield the kind and the name of each payer. The payer that was charged last comes last."""
        return iter(self._known)
