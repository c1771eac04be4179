"""Whether a page of a list is slower in a large company: 1 000 000 records compared with 10 000."""

import http.client
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks.figures import FIRST_PAGE, FIRST_STOCK_PAGE, LAST_STOCK_PAGE, LAST_SYNC_PAGE, Figure
from benchmarks.processes import Failed, Server, get, progress, wmsd_server
from benchmarks.site import Company, installation
from benchmarks.size import sized

SMALL: Final = sized(10_000, 500)
LARGE: Final = sized(1_000_000, 1_000)
REQUESTS: Final = sized(400, 2)
WARM_UP: Final = sized(20, 1)
MOST_SECONDS: Final = 20.0
MOST_WALK_SECONDS: Final = 120.0
STRIDE: Final = 500
LAST: Final = 100
NEXT: Final = re.compile(rb'"next_cursor":"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Reader:
    """A connection that requests data of one company, or of one user."""

    connection: http.client.HTTPConnection
    headers: Mapping[str, str]

    def get(self, path: str) -> bytes:
        return get(self.connection, path, self.headers)

    def seconds(self, path: str) -> float:
        """Return the duration of a request. The answer does not come from the cache of lists, because the company
        changes before.
        """
        if path.startswith("/api/"):
            self._change()
        started = time.perf_counter()
        self.get(path)
        return time.perf_counter() - started

    def _change(self) -> None:
        body = json.dumps({"description": f"changed at {time.time_ns()}"})
        headers = {**self.headers, "Content-Type": "application/json"}
        self.connection.request("PATCH", "/api/articles/1", body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise Failed(f"A change of an article was answered {answer.status}: {text[:300]!r}")

    def walk_seconds(self, path: str) -> float:
        """Return the seconds to read all pages by cursor. `path` ends with the page size."""
        self._change()
        started, cursor = time.perf_counter(), ""
        while found := NEXT.search(self.get(f"{path}{cursor}")[-300:]):
            cursor = f"&cursor={found[1].decode()}"
        return time.perf_counter() - started

    def last_page(self, path: str, rows: int) -> str:
        """Return the address of the page with the last LAST records of a list. `rows` is the number of records in
        the list.

        Read all earlier pages first, as a client does. Raise Failed if this takes too long, or if the list does
        not have the expected pages.
        """
        cursor, pages = "", 1
        until = time.monotonic() + MOST_WALK_SECONDS
        while found := NEXT.search(self.get(f"{path}?per_page={STRIDE}{cursor}")[-300:]):
            cursor, pages = f"&cursor={found[1].decode()}", pages + 1
            if time.monotonic() > until:
                raise Failed(f"{path}: reading to the last page reached only page {pages}.")
        if pages != rows // STRIDE:
            raise Failed(f"{path} has {pages} pages instead of {rows // STRIDE}.")
        before_last = NEXT.search(self.get(f"{path}?per_page={STRIDE - LAST}{cursor}")[-300:])
        if before_last is None:
            raise Failed(f"{path} ends before its last {LAST} rows.")
        return f"{path}?per_page={LAST}&cursor={before_last[1].decode()}"


def measure() -> Iterator[Figure]:
    with installation() as site:
        small, large = site.company("SMALL"), site.company("LARGE")
        for company, rows in ((small, SMALL), (large, LARGE)):
            site.load_articles(company, rows)
            site.load_stock(company, rows)
        with wmsd_server(site.data) as wmsd:
            yield from _figures(_reader(wmsd, small), _reader(wmsd, large))


def _reader(wmsd: Server, company: Company) -> Reader:
    return Reader(wmsd.connect(), company.headers)


def _figures(small: Reader, large: Reader) -> Iterator[Figure]:
    for name, path, is_last in (
        (FIRST_PAGE, "/api/articles", False),
        (FIRST_STOCK_PAGE, "/api/v2/stock", False),
        (LAST_SYNC_PAGE, "/api/articles/sync", True),
        (LAST_STOCK_PAGE, "/api/v2/stock", True),
    ):
        progress(name)
        ours = large.last_page(path, LARGE) if is_last else path
        floor = small.last_page(path, SMALL) if is_last else path
        yield compared(name, small, floor, large, ours)


def compared(name: str, small: Reader, small_path: str, large: Reader, large_path: str) -> Figure:
    return timed(name, partial(small.seconds, small_path), partial(large.seconds, large_path))


def timed(name: str, small: Callable[[], float], large: Callable[[], float]) -> Figure:
    """Call `small` and `large` in turns, so that other work of the machine slows both. Return a figure with the
    median of each in milliseconds.

    Both functions return a duration in seconds.
    """
    found: list[tuple[float, float]] = []
    until = time.monotonic() + MOST_SECONDS
    while len(found) <= WARM_UP or (len(found) < WARM_UP + REQUESTS and time.monotonic() < until):
        found.append((small(), large()))
    floor, ours = (statistics.median(times) * 1000 for times in zip(*found[WARM_UP:], strict=True))
    return Figure(name, "ms", ours, floor)
