"""How long the requests of companies take while another company causes too much load.

The 99th percentile of a mix of requests (see `mix.py`) is measured with and without this load.
"""

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Final

from benchmarks.figures import BESIDE_A_FLOOD, BESIDE_A_SLOW_LIST, BESIDE_AN_IMPORT, BESIDE_DEAD_RECEIVERS, Figure
from benchmarks.mix import ARTICLES, PARTNERS, Site, many
from benchmarks.orders import company_with_goods
from benchmarks.processes import HOST, Failed, Server, progress, wmsd_server
from benchmarks.site import Company, article_code, articles_csv, installation
from benchmarks.size import sized
from benchmarks.webhooks import CREATED, TO_LOOPBACK, call, dead_receivers, new_order, subscribe, switch

COMPANIES: Final = sized(60, 2)
RATE: Final = sized(200.0, 40.0)
SECONDS: Final = sized(15.0, 0.5)
ROUNDS: Final = sized(3, 1)
LIMIT: Final = 60
"""The limit, in requests per minute, of the company that floods the server. This company sends a hundred times as
many.
"""
ROWS: Final = sized(100_000, 200)
FOUND: Final = sized(400_000, 200)
"""The number of articles in a list whose request takes about a second."""
SLOW_LIST: Final = "/api/articles?search=bearing"
LISTERS: Final = 2
ORDERS_A_SECOND: Final = 5.0
PAUSE_SECONDS: Final = 0.001


@dataclass(frozen=True, slots=True)
class Scene:
    """The companies on the server.

    The first COMPANIES companies in `site` are measured. Each other company causes one kind of load.
    """

    site: Site
    server: Server
    flooding: Company
    importing: Company
    listing: Company
    subscribed: list[Company]
    """Companies with webhooks, one for each round."""


def measure() -> Iterator[Figure]:
    with installation() as made:
        first = company_with_goods(made, ARTICLES, PARTNERS)
        flooding, importing, listing = (made.company(code) for code in ("FLOOD", "IMPORT", "LIST"))
        made.wmsd("company", "change", flooding.code, "--requests-per-minute", str(LIMIT))
        progress(f"importing {FOUND} articles")
        names = (f"{article_code(number)},Bearing {number}\n" for number in range(FOUND))
        made.import_csv("articles", listing, "code,name\n" + "".join(names))
        site = many(made, first, COMPANIES + ROUNDS)
        subscribed = [Company(company, "", token) for company, token in site.companies[COMPANIES:]]
        with wmsd_server(made.data, TO_LOOPBACK) as server:
            scene = Scene(site, server, flooding, importing, listing, subscribed)
            site.load(server, COMPANIES, RATE, SECONDS)  # opens the files before the measurement
            for name, disturbance in DISTURBANCES.items():
                yield _figure(scene, name, disturbance)


def _figure(scene: Scene, name: str, disturbance: "Disturbance") -> Figure:
    """Measure the mix with and without the disturbance, in turns."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for number in range(ROUNDS):
        found[False].append(_slow(scene))
        with disturbance(scene):
            found[True].append(_slow(scene))
        progress(f"{name}, {number + 1} of {ROUNDS}: {found[True][-1]:.1f} ms, without {found[False][-1]:.1f} ms")
    return Figure(name, "ms", statistics.median(found[True]), statistics.median(found[False]))


def _slow(scene: Scene) -> float:
    """Run the mix of requests once, and return the 99th percentile of their durations in milliseconds."""
    seen = scene.site.load(scene.server, COMPANIES, RATE, SECONDS)
    if seen.wrong:
        raise Failed(f"{seen.wrong} requests of others failed: {seen.first_wrong[-300:]}")
    return seen.slow * 1000


@contextmanager
def _again_and_again(*actions: Callable[[], None]) -> Iterator[None]:
    """Repeat each action on a separate thread until the context ends."""
    over = threading.Event()
    errors: list[Exception] = []

    def repeat(action: Callable[[], None]) -> None:
        try:
            while not over.wait(PAUSE_SECONDS):
                action()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if errors:
        raise Failed(f"the company that causes too much load failed: {errors[0]!r}")


def _flood(scene: Scene) -> AbstractContextManager[None]:
    """Send a hundred times as many requests per minute as the company's limit allows, at regular intervals."""
    connection = scene.server.connect()
    began, numbers = time.monotonic(), count()

    def ask() -> None:
        due = began + next(numbers) * 60 / (LIMIT * 100)
        time.sleep(max(0.0, due - time.monotonic()))
        connection.request("GET", "/api/articles", headers=scene.flooding.headers)
        connection.getresponse().read()

    return _again_and_again(ask)


def _import(scene: Scene) -> AbstractContextManager[None]:
    """Import articles repeatedly, each time with other codes, so that every row is new."""
    text = articles_csv(ROWS)
    numbers = count(time.time_ns())

    def write() -> None:
        own = text.replace("\nA", f"\n{next(numbers)}-")
        scene.site.installation.import_csv("articles", scene.importing, own)

    return _again_and_again(write)


def _list(scene: Scene) -> AbstractContextManager[None]:
    def read() -> None:
        scene.server.get(SLOW_LIST, scene.listing.headers)

    return _again_and_again(*[read] * LISTERS)


@contextmanager
def _dead(scene: Scene) -> Iterator[None]:
    """Create orders for dead receivers.

    Each round uses another company, whose webhooks are switched off afterwards.
    """
    company, numbers = scene.subscribed.pop(), count()

    def order() -> None:
        call(scene.server, company, "POST", "/api/v2/sales-orders", new_order(next(numbers) % PARTNERS))
        time.sleep(1 / ORDERS_A_SECOND)

    with dead_receivers(scene.site.installation.data.parent) as dead:
        urls = [f"http://{HOST}:{port}/" for port in json.loads(dead.get("/"))]
        subscriptions = [subscribe(scene.server, company, url, CREATED) for url in urls]
        with _again_and_again(order):
            yield
        switch(scene.server, company, subscriptions, active=False)


Disturbance = Callable[[Scene], AbstractContextManager[None]]
DISTURBANCES: Final[dict[str, Disturbance]] = {
    BESIDE_A_FLOOD: _flood,
    BESIDE_AN_IMPORT: _import,
    BESIDE_A_SLOW_LIST: _list,
    BESIDE_DEAD_RECEIVERS: _dead,
}
