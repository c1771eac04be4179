"""Clients that work while something breaks: orders and reads at a steady pace, with the answer to each."""

import asyncio
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from threading import Thread
from typing import Final

from tests.support.contention import V1, V2, order
from tests.support.hostile.scene import Tenant
from tests.support.raw_http import Answer, Caller, Connection, Request

PATIENCE: Final = 20.0
"""Seconds after which a client without an answer counts as left hanging. A write waits for at most 10 s."""
MOST_CONNECTIONS: Final = 64
"""The most connections of a company. Further requests wait for a free connection, and their wait counts."""
OPENED_BEFORE: Final = 8
LINES: Final = (("A", 0.5), ("B", 2))
READS: Final = ("/api/v2/stock?per_page=50", "/api/articles/1")
HEAVY_READS: Final = ("/openapi.json", "/api/v2/openapi.json")
HEAVY_BYTES: Final = 900_000
"""The bytes of white space in a heavy request. JSON allows white space before and after a document."""


class Told(Enum):
    DONE = "done"
    REFUSED = "refused"
    """The request changed nothing."""
    UNKNOWN = "unknown"
    """The request may have changed something: the answer says so, or there is no answer."""
    HANGING = "left hanging"
    WRONG = "answered wrongly"


@dataclass(slots=True)
class Asked:
    """A request and its answer. `place` is the index of the company. A read has an empty name.

    `due` and `ended` are times of `time.monotonic`.
    """

    place: int
    form: str
    name: str
    request: Request
    due: float
    has_key: bool = False
    ended: float = math.inf
    told: Told = Told.HANGING
    answer: str = "no answer"

    @property
    def seconds(self) -> float:
        return self.ended - self.due

    def take(self, answer: Answer) -> None:
        self.told, self.answer = _told(answer), f"{answer.status} {answer.raw[:300].decode(errors='replace')}"


def _told(answer: Answer) -> Told:
    if answer.status in (200, 201):
        return Told.DONE
    if answer.status == 500 and not answer.raw.startswith(b"{"):
        return Told.UNKNOWN  # aiohttp sends this if our answer cannot be sent; otherwise the log has a traceback
    code = answer.body.get("code")
    if answer.status == 503 and code == "OUTCOME_UNKNOWN":
        return Told.UNKNOWN
    if code in ("SERVICE_UNAVAILABLE", "STORAGE_FULL"):
        return Told.REFUSED
    return Told.WRONG


class Work:
    """The requests of one company, over connections that stay open. `is_heavy`: the requests take much memory."""

    def __init__(self, caller: Caller, place: int, label: str, lines: int, is_heavy: bool) -> None:
        self.asked: list[Asked] = []
        self._lines = LINES * (lines // len(LINES))
        self._reads = HEAVY_READS if is_heavy else READS
        self._padding = b" " * (HEAVY_BYTES if is_heavy else 0)
        self._caller = caller
        self._place = place
        self._label = label
        self._idle: list[Connection] = []
        self._room = asyncio.Semaphore(MOST_CONNECTIONS)

    async def open(self) -> None:
        while len(self._idle) < OPENED_BEFORE:
            self._idle.append(await self._caller.connect())

    async def close(self) -> None:
        for connection in self._idle:
            await connection.close()

    def next(self, due: float) -> Asked:
        number = len(self.asked)
        name = f"{self._label}-{number}"
        body = order(*self._lines, notes=name)
        match number % 5:
            case 0:
                sent = self._caller.post(V2, body, f"key-{name}")
                asked = Asked(self._place, "an order with a key", name, sent, due, has_key=True)
            case 1 | 3:
                sent = self._caller.post(V1 if number % 5 == 1 else V2, body, padding=self._padding)
                asked = Asked(self._place, "an order", name, sent, due)
            case odd:
                path = self._reads[odd // 4]
                asked = Asked(self._place, path, "", self._caller.request("GET", path, None), due)
        self.asked.append(asked)
        return asked

    async def ask(self, asked: Asked) -> None:
        """Send the request and record the answer. The connection is reused unless it broke."""
        async with self._room:
            connection = None
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + PATIENCE):
                    connection = self._idle.pop() if self._idle else await self._caller.connect()
                    asked.take(await connection.ask(asked.request))
            except TimeoutError:
                pass
            except (OSError, EOFError) as error:
                asked.told, asked.answer = Told.UNKNOWN, type(error).__name__
            else:
                self._idle.append(connection)
                connection = None
            finally:
                asked.ended = time.monotonic()
                if connection is not None:
                    with suppress(OSError):
                        await connection.close(reset=True)


@dataclass
class Load(Thread):
    """Clients on a thread of their own, next to the thread that causes faults.

    `late` has the indexes of the companies whose clients start only at `begin_late`; their requests are heavy if
    `is_heavy`. `lines` is the number of lines in an order. `per_second` counts the requests of each company.
    """

    port: int
    tenants: Sequence[Tenant]
    per_second: float
    label: str
    lines: int
    late: Sequence[int] = ()
    is_heavy: bool = False
    works: list[Work] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._is_stopped = self._have_all_begun = False

    def __hash__(self) -> int:
        return id(self)

    @property
    def asked(self) -> list[Asked]:
        return [each for work in list(self.works) for each in list(work.asked)]

    def begin_late(self) -> None:
        self._have_all_begun = True

    def stop(self) -> None:
        """Stop when every request is answered or can no longer be answered."""
        self._is_stopped = True
        self.join()

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        for place, tenant in enumerate(self.tenants):
            is_late = place in self.late
            caller = Caller(self.port, tenant.token, tenant.company)
            work = Work(caller, place, f"{self.label}-{place}", self.lines, self.is_heavy and is_late)
            if not is_late:
                await work.open()
            self.works.append(work)
        await asyncio.gather(*(self._drive(place, work) for place, work in enumerate(self.works)))

    async def _drive(self, place: int, work: Work) -> None:
        """Send a request whenever one is due, whether or not earlier requests are answered."""
        while place in self.late and not self._have_all_begun and not self._is_stopped:  # noqa: ASYNC110  # a thread says so
            await asyncio.sleep(0.01)
        running: set[asyncio.Task[None]] = set()
        due = time.monotonic()
        while not self._is_stopped:
            running.add(asyncio.create_task(work.ask(work.next(due))))
            running = {each for each in running if not each.done()}
            due += 1 / self.per_second
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        if running:
            await asyncio.wait(running)
        await work.close()


async def repeated(caller: Caller, asked: Sequence[Asked]) -> None:
    """Repeat each request that has a key and was not done, with the same key."""
    async with caller.connections(1) as (connection,):
        for each in asked:
            if each.has_key and each.told is not Told.DONE:
                each.take(await connection.ask(each.request))
