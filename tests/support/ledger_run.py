"""A sending server that is killed again and again while orders are posted, with a clock that runs fast.

`ledger_laws` judges the result.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.support.borrowing import borrowed
from tests.support.contention import V2, order
from tests.support.fast_clock import FastClock
from tests.support.forked import FIXED, ROOT
from tests.support.raw_http import Answer, Caller, Connection
from tests.support.unsteady import HOST, Life, Receiver, listening
from wmsd.base import timestamps
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import beside_a_server
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter
from wmsd.events.webhooks.deliveries.redelivery import send_range
from wmsd.installation.open_installation import Installation, open_installation
from wmsd.settings.all_settings import Settings

ARTICLES: Final = 400
"""The number of articles, so large that few events of the same article wait for each other."""
CODES: Final = tuple(f"L{number:03}" for number in range(ARTICLES))
GOODS: Final = {
    "partners": "code,name,type\nP,Customer,CLIENT\n",
    "warehouses": "code,name\nMAIN,Main\n",
    "articles": "code,name\n" + "".join(f"{code},x\n" for code in CODES),
    "stock": "article_code,warehouse_code,quantity\n" + "".join(f"{code},MAIN,1000000\n" for code in CODES),
}
SUBSCRIBERS: Final[Mapping[str, list[str]]] = {
    "all": ["*"],
    "orders": ["sales_order.created", "sales_order.status_changed"],
    "stock": ["stock.updated"],
}
WAYS: Final = ((), (), ("IN_LUCRU",), ("IN_LUCRU", "INCARCAT"), ("ANULAT",))
"""The statuses to which an order is moved after its creation. Each order gets one of these ways."""
SPEED: Final = 600.0
ATTEMPTS: Final = 5
"""The attempts until a delivery is exhausted (specification, section 6). Repeated here to test the program."""
CONNECTIONS: Final = 6
SHORTEST: Final = 0.4
LONGEST: Final = 2.4
"""The most seconds that a server runs, including about half a second for its start."""
A_MOMENT: Final = 0.05
YEAR: Final = timedelta(days=365)
PATIENCE: Final = 60.0
STANDSTILL: Final = 30.0
"""Seconds without a change after which nothing more is expected: ten times the longest back-off."""
REPEATED_TOO_LATE: Final = 409
SETTINGS: Final = {
    "WMSD_LIMITS_DATA_PER_MINUTE": "1000000000",
    "WMSD_LIMITS_REFUSED_PER_MINUTE": "1000000000",
    "WMSD_WEBHOOKS_ALLOW_NETWORKS": f"{HOST}/32",
    "WMSD_WEBHOOKS_ALLOW_PORTS": "1-65535",
    "WMSD_WEBHOOKS_ALLOW_HTTP": "true",
    "WMSD_LOG_REQUESTS": "false",
    "WMSD_LOG_LEVEL": "warning",
}


@dataclass(frozen=True, slots=True)
class Tenant:
    """The tenant of the orders: a company with `GOODS`."""

    data: Path
    token: str
    company: int

    def rows(self, sql: str) -> list[Any]:
        with borrowed(self.data, f"companies/{self.company}.db") as connection:
            return connection.execute(sql).fetchall()


@dataclass(slots=True)
class Ran:
    """The record of a run. `first_event` is the first event that the subscribers must receive."""

    tenant: Tenant
    receivers: Mapping[str, Receiver]
    life: Life
    log: Path
    first_event: int = 0
    acknowledged: set[int] = field(default_factory=set)
    rounds: Counter[int] = field(default_factory=Counter)
    """The number of times that each delivery was exhausted in the log and was sent again."""
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Order:
    """An order that the load creates and moves.

    `steps` are the statuses still to reach. If `is_repeated`, a server may have done its last request already.
    """

    name: str
    article: str
    steps: deque[str]
    id: int = 0
    is_repeated: bool = False


class Load:
    """Orders that go through their transitions. A request that a kill interrupts is repeated with the same key."""

    def __init__(self, count: int, chance: Random, ran: Ran) -> None:
        self._ran = ran
        self._fresh = deque(
            Order(f"order-{number}", chance.choice(CODES), deque(chance.choice(WAYS))) for number in range(count)
        )
        self._cut: deque[Order] = deque()
        self._count = count
        self.finished = 0
        self.most_begun = 0

    @property
    def is_over(self) -> bool:
        return self.finished == self._count

    async def post(self, caller: Caller) -> None:
        """Send requests until all orders are done, or the server is gone."""
        async with _connected(caller) as connections:
            await asyncio.gather(*(self._work(caller, connection) for connection in connections))

    async def _work(self, caller: Caller, connection: Connection) -> None:
        while not self.is_over:
            order = self._next()
            if order is None:
                await asyncio.sleep(A_MOMENT)
                continue
            try:
                await self._through(order, caller, connection)
            except BaseException:
                order.is_repeated = True
                self._cut.append(order)
                raise
            self.finished += 1

    def _next(self) -> Order | None:
        if self._cut:
            return self._cut.popleft()
        begun = self._count - len(self._fresh)
        return self._fresh.popleft() if self._fresh and begun < self.most_begun else None

    async def _through(self, order: Order, caller: Caller, connection: Connection) -> None:
        if not order.id:
            answer = await connection.ask(caller.post(V2, _body(order), order.name))
            self._judge(order, answer, 201)
            order.id = answer.body.get("id", 0)
            self._ran.acknowledged.add(order.id)
        while order.id and order.steps:
            path, status = f"{V2}/{order.id}/status", order.steps[0]
            request = caller.request("PATCH", path, {"status": status}, f"{order.name}-{status}")
            self._judge(order, await connection.ask(request), 200)
            order.steps.popleft()

    def _judge(self, order: Order, answer: Answer, expected: int) -> None:
        """Record an unexpected answer.

        Keys are forgotten after a week, so a repeated transition may be refused after a jump of the clock.
        """
        is_too_late = order.is_repeated and answer.status == REPEATED_TOO_LATE
        if answer.status != expected and not is_too_late:
            self._ran.wrong.append(f"{order.name} was answered {answer.status} {answer.raw.decode()}.")
        order.is_repeated = False


def _body(order_: Order) -> Any:
    return order((order_.article, 1), notes=order_.name)


@asynccontextmanager
async def _connected(caller: Caller) -> AsyncIterator[list[Connection]]:
    """Connect as soon as the server listens."""
    while True:
        with suppress(ConnectionRefusedError):
            await (await caller.connect()).close()
            break
        await asyncio.sleep(A_MOMENT)
    async with caller.connections(CONNECTIONS) as connections:
        yield connections


class Run:
    """The run: `kills` servers one after another, then a server that may finish, with its clock years behind."""

    def __init__(self, ran: Ran, orders: int, kills: int, seed: int, tell: Callable[[str], None]) -> None:
        self._ran = ran
        self._tell = tell
        self._chance = Random(seed)
        self._kills = kills
        self._orders = orders
        self._load = Load(orders, self._chance, ran)
        self._clock_file = ran.log.with_name("clock")
        self._clock = FastClock.make(self._clock_file, SPEED)
        self._port = _free_port()
        self._caller = Caller(self._port, ran.tenant.token, ran.tenant.company)

    async def go(self) -> None:
        await self._subscribe()
        for life in range(self._kills - 1):
            self._load.most_begun = self._orders * (life + 1) // self._kills
            await self._one_is_off(life)
            await self._until_killed(life, self._chance.uniform(SHORTEST, LONGEST))
            self._tell(f"kill {life + 1} of {self._kills}")
        self._load.most_begun = self._orders
        await self._until_all_is_posted()
        self._clock.leap(-YEAR)  # only the next start can notice this jump, because no client posts any more
        await self._to_the_end()

    async def _subscribe(self) -> None:
        ((self._ran.first_event,),) = self._ran.tenant.rows("SELECT coalesce(max(sequence), 0) + 1 FROM events")
        with self._server() as server:
            async with _connected(self._caller) as (connection, *_):
                for name, receiver in self._ran.receivers.items():
                    body = {
                        "name": name,
                        "url": receiver.url,
                        "events": SUBSCRIBERS[name],
                        "secret": receiver.secret,
                    }
                    answer = await connection.ask(self._caller.post("/api/webhooks", body))
                    assert answer.status == 201, answer.raw
            server.terminate()
            assert await _ended(server) == 0

    async def _one_is_off(self, life: int) -> None:
        """Switch a receiver off for two fifths of the run, long enough for deliveries to become exhausted."""
        receiver = self._ran.receivers["stock"]
        if life == self._kills * 3 // 10:
            await receiver.leave()
        if life == self._kills * 7 // 10:
            await receiver.listen()

    async def _until_killed(self, life: int, seconds: float) -> None:
        with self._server() as server:
            load = asyncio.create_task(self._load.post(self._caller))
            await asyncio.sleep(seconds / 2)
            self._leap(life)
            await asyncio.sleep(seconds / 2)
            self._kill(server)
        load.cancel()
        with suppress(asyncio.CancelledError, OSError, EOFError):
            await load
        await self._next_life()

    async def _until_all_is_posted(self) -> None:
        with self._server() as server:
            posting = asyncio.create_task(self._load.post(self._caller))
            before = -1
            while not posting.done() and self._load.finished > before:
                before = self._load.finished
                await asyncio.wait([posting], timeout=PATIENCE)
            assert posting.done(), f"no order was finished for {PATIENCE:.0f} s"
            await posting
            self._kill(server)
        self._tell("every order is there")
        await self._next_life()

    def _kill(self, server: "subprocess.Popen[bytes]") -> None:
        if server.poll() is not None:
            self._ran.wrong.append(f"The server ended by itself with {server.returncode}.")
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()

    async def _next_life(self) -> None:
        await asyncio.sleep(A_MOMENT)  # wait for what the killed server sent last
        self._ran.life.number += 1

    def _leap(self, life: int) -> None:
        for place, by in ((self._kills * 2 // 10, -YEAR), (self._kills * 8 // 10, YEAR)):
            if life == place:
                self._clock.leap(by)

    async def _to_the_end(self) -> None:
        with self._server() as server:
            await self._nothing_is_open()
            await self._send_exhausted_again()
            await asyncio.sleep(A_MOMENT)
            self._clock.leap(-YEAR)  # jump while some deliveries wait
            await self._nothing_is_open()
            for receiver in self._ran.receivers.values():
                receiver.is_calm = True
            await self._send_exhausted_again()
            await self._nothing_is_open()
            server.terminate()
            if await _ended(server):
                self._ran.wrong.append(f"The server ended with {server.returncode}.")

    async def _nothing_is_open(self) -> None:
        """Wait until no delivery is open. Record an error if the number is the same for STANDSTILL seconds."""
        until, before = time.monotonic() + STANDSTILL, -1
        while True:
            ((is_open,),) = self._ran.tenant.rows(
                "SELECT count(*) FROM webhook_deliveries WHERE status IN ('pending', 'held')"
            )
            if not is_open:
                return
            if is_open != before:
                until, before = time.monotonic() + STANDSTILL, is_open
            if time.monotonic() > until:
                self._ran.wrong.append(f"{is_open} deliveries stay open.")
                return
            await asyncio.sleep(0.25)

    async def _send_exhausted_again(self) -> None:
        """Send exhausted deliveries again: for the first subscriber one by one, for the others by range."""
        exhausted = self._ran.tenant.rows(
            "SELECT id, subscription_id, attempts FROM webhook_deliveries WHERE status = 'exhausted'"
        )
        self._tell(f"{len(exhausted)} deliveries are exhausted")
        for delivery_id, _, attempts in exhausted:
            self._ran.rounds[delivery_id] += 1
            if attempts != ATTEMPTS * self._ran.rounds[delivery_id]:
                self._ran.wrong.append(f"Delivery {delivery_id} was exhausted after {attempts} attempts.")
        async with _connected(self._caller) as (connection, *_):
            for delivery_id, subscription_id, _ in exhausted:
                if subscription_id == 1:
                    path = f"/api/v2/webhooks/1/deliveries/{delivery_id}/redeliver"
                    answer = await connection.ask(self._caller.post(path, {}))
                    assert answer.status == 200, answer.raw
        folder = DataFolder(self._ran.tenant.data)
        with beside_a_server(folder) as loan:
            assert loan is not None
            loan.borrow(folder.platform_file)
            async with open_installation(
                Settings(), folder, clock=self._clock, borrow=loan.borrow
            ) as installation:
                for subscription_id in {found for _, found, _ in exhausted} - {1}:
                    await self._send_range(installation, subscription_id)

    async def _send_range(self, installation: Installation, subscription_id: int) -> None:
        now = self._clock.now()
        since, until = (timestamps.to_text(now + by) for by in (-YEAR, 4 * YEAR))
        chosen = DeliveryFilter(subscription_id, ("exhausted",), since=since, until=until)
        database = await installation.files.get(self._ran.tenant.company)
        after, is_more = 0, True
        while is_more:
            _, after, is_more = await database.write(partial(send_range, chosen=chosen, after=after))

    @contextmanager
    def _server(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a server that leads a process group of its own, and end the whole group."""
        script = ROOT / "tests" / "support" / "fast_serve.py"
        serve = ["serve", "--data", str(self._ran.tenant.data), "--listen", f"{HOST}:{self._port}"]
        with self._ran.log.open("ab") as log:
            server = subprocess.Popen(
                [sys.executable, "-P", script, self._clock_file, *serve],
                cwd=self._ran.log.parent,
                env={**FIXED, **SETTINGS},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        with server:
            try:
                yield server
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(server.pid, signal.SIGKILL)


async def _ended(server: "subprocess.Popen[bytes]") -> int:
    return await asyncio.to_thread(server.wait, PATIENCE)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


async def run(
    tenant: Tenant, scratch: Path, orders: int, kills: int, seed: int, tell: Callable[[str], None] = lambda _: None
) -> Ran:
    """Kill servers in a run, and return its record. `scratch` takes the clock's file and the servers' log."""
    async with listening(tuple(SUBSCRIBERS), seed) as (receivers, life):
        ran = Ran(tenant, receivers, life, scratch / "servers.log")
        await Run(ran, orders, kills, seed, tell).go()
    return ran
