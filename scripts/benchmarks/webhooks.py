"""The speed of webhook deliveries, also beside dead receivers, and the cost of subscriptions for orders."""

import json
import statistics
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import BESIDE_THE_DEAD, DRAINING, ORDERS_SUBSCRIBED, Figure
from benchmarks.load import ROUNDS, WARM_UP_SECONDS, Load, Target, drive
from benchmarks.orders import ARTICLES, PARTNERS, check_created, company_with_goods, total, write_script
from benchmarks.processes import (
    HOST,
    QUIET,
    Failed,
    Server,
    environment,
    free_port,
    progress,
    run,
    server,
    wmsd_server,
)
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized
from wmsd.db.engine.sqlite import connect
from wmsd.events.webhooks.sending.throttle import PER_SUBSCRIPTION

LOOPBACK: Final = {
    "WMSD_WEBHOOKS_ALLOW_NETWORKS": "127.0.0.1/32",
    "WMSD_WEBHOOKS_ALLOW_PORTS": "1-65535",
    "WMSD_WEBHOOKS_ALLOW_HTTP": "true",
}
TO_LOOPBACK: Final = {**QUIET, **LOOPBACK}
DELIVERIES: Final = sized(40_000, 50)
"""They take ten seconds, because a server is busy with its start for two seconds."""
DEAD: Final = sized(100, 4)
ORDERS_A_SECOND: Final = 20
FIRST_SECONDS: Final = sized(2.0, 0.2)
ALONE_SECONDS: Final = sized(10.0, 0.5)
BESIDE_SECONDS: Final = sized(45.0, 0.5)
"""The duration of the measurement beside dead receivers, in seconds. It is longer than the first wait of 30 s, so
that failed deliveries are tried again.
"""
SUBSCRIPTIONS: Final = 3
MOST_SECONDS: Final = 300.0
OPEN: Final = "SELECT count(*) FROM webhook_deliveries WHERE status IN ('pending', 'held')"
DELIVERED: Final = "SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'"
ALL: Final = "*"
CREATED: Final = "sales_order.created"


def measure() -> Iterator[Figure]:
    with installation() as site, receiving(site.data.parent) as receiver:
        yield _draining(site, site.company("DRAIN"), receiver)
        company = company_with_goods(site)
        script = write_script(site.data.parent)
        with wmsd_server(site.data, TO_LOOPBACK) as wmsd:
            yield from _orders_subscribed(site, wmsd, company, script, receiver)
        with wmsd_server(site.data, TO_LOOPBACK) as wmsd:
            yield from _beside_the_dead(site, wmsd, company, receiver)


@dataclass(frozen=True, slots=True)
class Seen:
    """The number of webhook deliveries that a receiver got, and the times of the first and the last one.

    The times are in seconds of CLOCK_MONOTONIC.
    """

    count: int
    first: float
    last: float

    @property
    def rate(self) -> float:
        return (self.count - 1) / (self.last - self.first)


@dataclass(frozen=True, slots=True)
class Receiver:
    server: Server

    def url(self, name: str) -> str:
        return f"{self.server.url}/{name}"

    def seen(self) -> Seen:
        return Seen(**json.loads(self.server.get("/seen")))

    def await_count(self, count: int) -> None:
        """Wait until `count` deliveries have arrived since `forget`. Raise Failed if they do not arrive."""
        until = time.monotonic() + MOST_SECONDS
        while (seen := self.seen().count) < count:
            if time.monotonic() > until:
                raise Failed(f"only {seen} of {count} webhook deliveries have arrived after {MOST_SECONDS:.0f} s.")
            time.sleep(0.01)

    def orders(self) -> dict[int, float]:
        """Return when the delivery of each order arrived, by the order's id."""
        return {int(order): arrived for order, arrived in json.loads(self.server.get("/orders")).items()}

    def forget(self) -> None:
        connection = self.server.connect()
        connection.request("DELETE", "/seen")
        connection.getresponse().read()
        connection.close()


@contextmanager
def receiving(folder: Path) -> Iterator[Receiver]:
    port = free_port()
    with server([sys.executable, "-m", "benchmarks.receiver", str(port)], port, folder, environment()) as found:
        yield Receiver(found)


def dead_receivers(folder: Path) -> AbstractContextManager[Server]:
    port = free_port()
    return server(
        [sys.executable, "-m", "benchmarks.dead_receivers", str(port), str(DEAD)], port, folder, environment()
    )


def call(wmsd: Server, company: Company, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection = wmsd.connect()
    headers = {**company.headers, "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status not in (200, 201):
        raise Failed(f"{method} {path} was answered {answer.status}: {text[:300]!r}")
    found: dict[str, Any] = json.loads(text)
    return found


def subscribe(wmsd: Server, company: Company, url: str, event: str) -> int:
    fields = {"name": url, "url": url, "events": [event], "secret": "bench-secret-of-32-characters-and-more"}
    found: int = call(wmsd, company, "POST", "/api/webhooks", fields)["id"]
    return found


def switch(wmsd: Server, company: Company, subscriptions: list[int], active: bool) -> None:
    for subscription_id in subscriptions:
        call(wmsd, company, "PATCH", f"/api/webhooks/{subscription_id}", {"active": active})


def _count(file: Path, sql: str) -> int:
    source = connect(file)
    found: int = source.execute(sql).fetchone()[0]
    source.close()
    return found


def _await_drained(site: Installation, company: Company) -> float:
    """Wait until no delivery is open, and return the present time of `time.monotonic`.

    Raise Failed if this takes longer than MOST_SECONDS.
    """
    until = time.monotonic() + MOST_SECONDS
    with site.borrowed(company) as file:
        while _count(file, OPEN):
            if time.monotonic() > until:
                raise Failed(f"{_count(file, OPEN)} webhook deliveries are still open after {MOST_SECONDS:.0f} s.")
            time.sleep(0.1)
    return time.monotonic()


def _draining(site: Installation, company: Company, receiver: Receiver) -> Figure:
    """Measure the sending of deliveries that an import without a server has queued.

    In each round, the floor sends the deliveries first, and then wmsd.
    """
    with wmsd_server(site.data, TO_LOOPBACK) as wmsd:
        subscribe(wmsd, company, receiver.url("drain"), ALL)
    file = site.file(company)
    rates = []
    for number in range(ROUNDS):
        progress(f"{DRAINING}, {number + 1} of {ROUNDS}")
        rows = (f"R{number}-{place},Article {place} of round {number}\n" for place in range(DELIVERIES))
        site.import_csv("articles", company, "code,name\n" + "".join(rows))
        if _count(file, OPEN) != DELIVERIES:
            raise Failed(f"{_count(file, OPEN)} webhook deliveries are queued, not {DELIVERIES}.")
        receiver.forget()
        module = [sys.executable, "-m", "benchmarks.webhooks_floor"]
        run([*module, file, receiver.url("floor"), str(PER_SUBSCRIPTION)], site.data.parent)
        floor = receiver.seen()
        receiver.forget()
        with wmsd_server(site.data, TO_LOOPBACK):
            _await_drained(site, company)
        ours = receiver.seen()
        if (floor.count, ours.count, _count(file, DELIVERED)) != (
            DELIVERIES,
            DELIVERIES,
            DELIVERIES * (number + 1),
        ):
            raise Failed(
                f"of {DELIVERIES} webhook deliveries, the floor sent {floor.count} and wmsd sent {ours.count}."
            )
        rates.append((ours.rate, floor.rate))
    measured, least = (statistics.median(each) for each in zip(*rates, strict=True))
    return Figure(DRAINING, "deliveries/s", measured, least)


def _orders_subscribed(
    site: Installation, wmsd: Server, company: Company, script: Path, receiver: Receiver
) -> Iterator[Figure]:
    """Measure orders with and without subscriptions in turns.

    A round begins when all deliveries of the previous round are sent.
    """
    target = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
    subscriptions = [subscribe(wmsd, company, receiver.url(f"s{n}"), ALL) for n in range(SUBSCRIPTIONS)]
    switch(wmsd, company, subscriptions, active=False)
    drive(target, 32, WARM_UP_SECONDS, ["warm", "0", "0"])
    without: list[Load] = []
    subscribed: list[Load] = []
    sent, drains = [], []
    before = total(wmsd, company)
    for number in range(ROUNDS):
        progress(f"{ORDERS_SUBSCRIBED}, {number + 1} of {ROUNDS}")
        without.append(drive(target, 32, arguments=[f"N{number}", "0", str(number)]))
        switch(wmsd, company, subscriptions, active=True)
        receiver.forget()
        subscribed.append(drive(target, 32, arguments=[f"S{number}", "0", str(number)]))
        ended = time.monotonic()
        sent.append(receiver.seen().count)
        drains.append(_await_drained(site, company) - ended)
        switch(wmsd, company, subscriptions, active=False)
    check_created([*without, *subscribed], total(wmsd, company) - before)
    ours, least = (statistics.median(load.rate for load in loads) for loads in (subscribed, without))
    yield Figure(ORDERS_SUBSCRIBED, "orders/s", ours, least)
    yield Figure("deliveries sent in the 2 s of a round", "deliveries", statistics.median(sent))
    yield Figure("until the rest was delivered", "seconds", statistics.median(drains))
    with site.borrowed(company) as file:
        yield Figure("deliveries of a round", "deliveries", _count(file, DELIVERED) / ROUNDS)


def _beside_the_dead(site: Installation, wmsd: Server, company: Company, receiver: Receiver) -> Iterator[Figure]:
    """Measure the time from the post of an order to the arrival of its sales_order.created, in milliseconds."""
    subscribe(wmsd, company, receiver.url("healthy"), CREATED)
    progress(f"{BESIDE_THE_DEAD}: alone")
    _delays(wmsd, company, receiver, FIRST_SECONDS)
    alone = _delays(wmsd, company, receiver, ALONE_SECONDS)
    with dead_receivers(site.data.parent) as dead:
        for port in json.loads(dead.get("/")):
            subscribe(wmsd, company, f"http://{HOST}:{port}/", CREATED)
        progress(f"{BESIDE_THE_DEAD}: beside them")
        beside = _delays(wmsd, company, receiver, BESIDE_SECONDS)
    yield Figure(BESIDE_THE_DEAD, "ms", statistics.median(beside), statistics.median(alone))
    ours, least = (statistics.quantiles(found, n=100)[98] for found in (beside, alone))
    yield Figure("of a hundred such delays the longest but one", "ms", ours, least)


def _delays(wmsd: Server, company: Company, receiver: Receiver, seconds: float) -> list[float]:
    posted: dict[int, float] = {}
    connection = wmsd.connect()
    headers = {**company.headers, "Content-Type": "application/json"}
    began = time.monotonic()
    for number in range(int(seconds * ORDERS_A_SECOND)):
        time.sleep(max(0.0, began + number / ORDERS_A_SECOND - time.monotonic()))
        now = time.monotonic()
        connection.request("POST", "/api/v2/sales-orders", json.dumps(new_order(number)), headers)
        posted[json.loads(connection.getresponse().read())["id"]] = now
    connection.close()
    arrived = _arrived(receiver, posted)
    return [(arrived[order_id] - now) * 1000 for order_id, now in posted.items()]


def new_order(number: int) -> dict[str, Any]:
    first = number * 7 % (ARTICLES - 3) + 1
    lines = [{"article_id": first + place, "quantity": 1} for place in range(3)]
    return {"partner_id": number % PARTNERS + 1, "warehouse_id": 1, "lines": lines}


def _arrived(receiver: Receiver, posted: Collection[int]) -> dict[int, float]:
    """Wait until the deliveries of the orders in `posted` have arrived. Return the time of each, by order id."""
    until = time.monotonic() + MOST_SECONDS
    while time.monotonic() < until:
        arrived = receiver.orders()
        if arrived.keys() >= set(posted):
            return arrived
        time.sleep(0.5)
    raise Failed(f"{len(set(posted) - arrived.keys())} of {len(posted)} orders did not arrive.")
