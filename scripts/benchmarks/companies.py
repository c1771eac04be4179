"""A thousand companies compared with one: rates, memory, the start, and durable orders over many files."""

import json
import statistics
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.figures import (
    COMPANIES_AT_ONE_A_SECOND,
    COMPANIES_CARRIED,
    COMPANIES_COLD,
    COMPANIES_MEMORY,
    COMPANIES_MEMORY_LATER,
    COMPANIES_MEMORY_USED,
    COMPANIES_ORDERS,
    COMPANIES_P99,
    COMPANIES_RATE,
    COMPANIES_START,
    Figure,
)
from benchmarks.mix import ARTICLES, PARTNERS, Run, Site, many
from benchmarks.orders import company_with_goods
from benchmarks.processes import Server, get, progress, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

COUNTS: Final = sized((60, 300, 1000), (2, 3, 4))
MOST: Final = max(COUNTS)
PROBE_SECONDS: Final = sized(10.0, 0.4)
STEPS: Final = sized(5, 1)
"""The steps of the search for the highest rate. Each step halves the range in which it can be."""
SOON: Final = 2.0
"""The highest rate to try, as a multiple of the rate that one company sustains."""
MINUTE: Final = sized(60.0, 1.0)
TOGETHER: Final = sized(32, 2)
SETTLED_SECONDS: Final = sized(2.0, 0.0)
LATER_SECONDS: Final = sized(600.0, 0.0)
ORDER_ROUNDS: Final = sized(3, 1)
START_ROUNDS: Final = sized(3, 1)


def measure() -> Iterator[Figure]:
    with installation() as made:
        first = company_with_goods(made, ARTICLES, PARTNERS)
        alone = _seconds_to_start(made, first)
        site = many(made, first, MOST)
        yield Figure(COMPANIES_START, "s", _seconds_to_start(made, first), alone)
        yield from _memory(site)
        with wmsd_server(made.data) as server:
            yield from _orders(site, server)
            yield from _rates(site, server)
            progress(COMPANIES_AT_ONE_A_SECOND)
            minute = site.load(server, MOST, MOST, MINUTE)
            _note(MOST, MOST, minute)
            yield Figure(COMPANIES_AT_ONE_A_SECOND, "requests/s", minute.rate)
            yield Figure(COMPANIES_P99, "ms", minute.slow * 1000)


def _rates(site: Site, server: Server) -> Iterator[Figure]:
    one = found = _sustained(site, server, 1, 1500.0)
    yield Figure("the mix by 1 company, p99 under 250 ms", "requests/s", one.rate)
    for count in COUNTS:
        found = _sustained(site, server, count, one.rate * SOON)
        name = COMPANIES_RATE if count == MOST else f"the mix by {count} companies, p99 under 250 ms"
        yield Figure(name, "requests/s", found.rate, one.rate)
    yield Figure(COMPANIES_CARRIED, "companies", found.rate)
    yield Figure("processor cores that the server is at work on then", "cores", found.cores)


def _sustained(site: Site, server: Server, count: int, most: float) -> Run:
    """Search for the highest rate up to `most`, in requests per second, that `count` companies sustain. Return the
    run at this rate.

    A rate is sustained if no request fails and 99 of 100 are answered within 0.25 s. If no tried rate is
    sustained, return a run at an eighth of `most`.
    """
    best = site.load(server, count, most / 8, PROBE_SECONDS / 2)  # opens as many files as stay open
    least = 0.0
    for _ in range(STEPS):
        rate = (least + most) / 2
        probe = site.load(server, count, rate, PROBE_SECONDS)
        _note(count, rate, probe)
        if probe.is_sustained:
            least, best = rate, probe
        else:
            most = rate
    return best


def _note(count: int, rate: float, found: Run) -> None:
    wrong = f", {found.wrong} failed: {found.first_wrong[-200:]!r}" if found.wrong else ""
    seen = f"{found.rate:.0f}/s, p99 {found.slow * 1000:.0f} ms, {found.cores:.2f} cores"
    progress(f"{count} companies, {rate:.0f}/s offered: {seen}{wrong}")


def _orders(site: Site, server: Server) -> Iterator[Figure]:
    progress(COMPANIES_ORDERS)
    found: dict[int, list[float]] = {TOGETHER: [], 1: []}
    for _ in range(ORDER_ROUNDS):
        for count, rates in found.items():
            rates.append(site.load(server, count, 0, PROBE_SECONDS / 2, TOGETHER).rate)
    spread, alone = (statistics.median(found[count]) for count in (TOGETHER, 1))
    yield Figure(COMPANIES_ORDERS, "orders/s", spread, alone)


def _memory(site: Site) -> Iterator[Figure]:
    progress("resident memory")
    with wmsd_server(site.installation.data) as server:
        time.sleep(SETTLED_SECONDS)
        yield Figure(COMPANIES_MEMORY, "MB", server.resident_mb())
        cold, warm = _first_answers(site, server)
        yield Figure(COMPANIES_COLD, "ms", cold * 1000, warm * 1000)
        time.sleep(SETTLED_SECONDS)
        yield Figure(COMPANIES_MEMORY_USED, "MB", server.resident_mb())
        progress(f"waiting {LATER_SECONDS:.0f} s")
        time.sleep(LATER_SECONDS)
        yield Figure(COMPANIES_MEMORY_LATER, "MB", server.resident_mb())


def _first_answers(site: Site, server: Server) -> tuple[float, float]:
    """Return the median seconds of each company's first request, and of its second request."""
    connection = server.connect()
    found: tuple[list[float], list[float]] = ([], [])
    for company_id, token in site.companies:
        for seconds in found:
            began = time.perf_counter()
            get(connection, "/api/articles/1", Company(company_id, "", token).headers)
            seconds.append(time.perf_counter() - began)
    connection.close()
    first, second = map(statistics.median, found)
    return first, second


def _seconds_to_start(site: Installation, company: Company) -> float:
    """Return the seconds from the command to an answer of the healthy server: the least of several rounds."""
    found = []
    for _ in range(START_ROUNDS):
        began = time.monotonic()
        with wmsd_server(site.data) as server:
            while json.loads(server.get("/api/health"))["status"] != "ok":
                time.sleep(0.01)
            server.get("/api/articles/1", company.headers)
            found.append(time.monotonic() - began)
    return min(found)
