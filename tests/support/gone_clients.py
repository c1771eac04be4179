"""Clients that disconnect in the middle of a request: at any byte of the request, and at any time after its last
byte.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random

from tests.support.contention import BATCH, V1, V2, Post, order
from tests.support.raw_http import Answer, Caller, Request

QUANTITIES = (("A", 0.1), ("B", 0.2), ("A", 3))
LINES = '[["A",100000,1],["B",200000,1],["A",3000000,1]]'
"""The lines of each order, in the form in which `wholeness.STORED` returns them."""
LONGEST_WAIT = 0.02
"""The longest wait before a connection is cut, in seconds. A request among others takes about as long, so requests
are cut at every stage of their work.
"""
FORMS = {V1: 1, V2: 1, BATCH: 6}
"""The number of orders in a request, by its path."""


class Place(Enum):
    HEAD = "in the middle of the head"
    BODY = "in the middle of the body"
    END = "right after the last byte"
    WORK = "while the answer is made"
    ANSWER = "while the answer is read"


@dataclass(frozen=True)
class Visit:
    """A client's request.

    `names` are the notes of its orders. `place` says where the request was cut, or is None if it was answered.
    `refusal` is the answer as text, or "" if every order was created.
    """

    names: tuple[str, ...]
    place: Place | None
    refusal: str = ""

    @property
    def most(self) -> int:
        """The highest number of times that each order may be stored."""
        return 0 if self.place in (Place.HEAD, Place.BODY) else 1

    @property
    def least(self) -> int:
        return 1 if self.place in (Place.ANSWER, None) else 0


@dataclass
class Visitors:
    """Clients that send requests of one form. Each name is used once."""

    caller: Caller
    path: str
    chance: Random
    count: int = 0
    cuts: int = 0

    def request(self, has_key: bool) -> tuple[tuple[str, ...], Request]:
        self.count += 1
        names = tuple(f"{self.path} {self.count}.{place}" for place in range(FORMS[self.path]))
        post = Post(self.path, tuple(order(*QUANTITIES, notes=name) for name in names))
        return names, self.caller.post(self.path, post.body, f"key-{self.count}" if has_key else None)

    async def cut_and_go_on(self) -> list[Visit]:
        """Cut one request at each place. After each cut another client sends a request that must succeed."""
        return [visit for place in Place for visit in await self._cut_and_another(place)]

    async def _cut_and_another(self, place: Place) -> tuple[Visit, Visit]:
        names, request = self.request(has_key=False)
        await self._cut(request, place)
        return Visit(names, place), await self.ask(*self.request(has_key=False))

    async def cut_and_repeat(self) -> list[Visit]:
        """For each place, cut a request there one to three times, and then repeat it completely with its key."""
        return [await self._repeated(place) for place in Place]

    async def _repeated(self, place: Place) -> Visit:
        names, request = self.request(has_key=True)
        for _ in range(self.chance.randint(1, 3)):
            await self._cut(request, place)
        return await self.ask(names, request)

    async def ask(self, names: tuple[str, ...], request: Request) -> Visit:
        answer = await self.caller.ask(request)
        return Visit(names, None, "" if created(answer, self.path) else f"{answer.status} {answer.raw.decode()}")

    async def _cut(self, request: Request, place: Place) -> None:
        self.cuts += 1
        connection = await self.caller.connect()
        await connection.send(request.whole[: self._length(request, place)])
        if place is Place.WORK:
            await asyncio.sleep(self.chance.uniform(0, LONGEST_WAIT))
        if place is Place.ANSWER:
            await connection.begin_to_read()
        await connection.close(reset=self.chance.random() < 0.5)

    def _length(self, request: Request, place: Place) -> int | None:
        head, whole = len(request.head), len(request.whole)
        match place:
            case Place.HEAD:
                return self.chance.randrange(1, head)
            case Place.BODY:
                return self.chance.randrange(head, whole)
            case _:
                return None


def created(answer: Answer, path: str) -> bool:
    """Return True if every order of the request was created, by this request or by an earlier one with its key."""
    if path != BATCH:
        return answer.status == 201
    return answer.status == 200 and {slot["status"] for slot in answer.body["responses"]} == {201}


def broken(visits: Sequence[Visit], stored: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each order that is stored in part, too often or not at all, and for each that was
    refused.

    `stored` has the rows of `wholeness.STORED`.
    """
    counts = Counter(name for name, _ in stored)
    for name, lines in stored:
        if lines != LINES:
            yield f"The order {name} has the lines {lines}."
    for visit in visits:
        if visit.refusal:
            yield f"After a cut, the request for {visit.names[0]} was answered {visit.refusal}."
        where = "that was answered" if visit.place is None else f"cut {visit.place.value}"
        for name in visit.names:
            if not visit.least <= counts[name] <= visit.most:
                yield f"Of the request {where}, the order {name} is there {counts[name]} times."
