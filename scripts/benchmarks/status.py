"""The metrics of a server with a thousand companies, as `wmsd status` and Prometheus request them.

It also measures whether a request for the metrics opens a company's file.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from benchmarks.figures import METRICS, OPENED_FOR_STATUS, STATUS, Figure
from benchmarks.mix import ARTICLES, PARTNERS, Site, many
from benchmarks.orders import company_with_goods
from benchmarks.processes import QUIET, START_SECONDS, Failed, Server, get, progress, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized
from wmsd.data_folder.folder import DataFolder
from wmsd.server.figures.ask import figures_of
from wmsd.server.figures.live import HOLDS_SECONDS

COMPANIES: Final = sized(1000, 4)
USED: Final = sized(50, 2)
"""The number of companies whose files are open during the measurement."""
ROUNDS: Final = sized(9, 1)
SETTLED_SECONDS: Final = sized(4.0, 0.2)
"""The wait after the start, in seconds. During this time the server opens each company's file once."""
TOKEN: Final = "x" * 32


def measure() -> Iterator[Figure]:
    with installation() as made:
        first = company_with_goods(made, ARTICLES, PARTNERS)
        with _served(made) as server:
            alone = [_median(ask) for ask in _questions(made, server)]
        site = many(made, first, COMPANIES)
        with _served(made) as server:
            _use(site, server)
            before = _open_companies(server)
            status, metrics = (_median(ask) for ask in _questions(made, server))
            opened = len(_open_companies(server) - before)
    yield Figure(STATUS, "ms", status * 1000)
    yield Figure("the same with 1 company", "ms", alone[0] * 1000)
    yield Figure(METRICS, "ms", metrics * 1000)
    yield Figure("a scrape with 1 company", "ms", alone[1] * 1000)
    yield Figure(OPENED_FOR_STATUS, "files", opened)


@contextmanager
def _served(made: Installation) -> Iterator[Server]:
    """Start a server, and yield it when it answers commands too: it listens for requests first."""
    file = made.data.parent / "metrics.token"
    file.write_text(TOKEN, encoding="ascii")
    with wmsd_server(made.data, {**QUIET, "WMSD_METRICS_TOKEN_FILE": str(file)}) as server:
        until = time.monotonic() + START_SECONDS
        while figures_of(DataFolder(made.data)) is None and time.monotonic() < until:
            time.sleep(0.02)
        yield server


def _questions(made: Installation, server: Server) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return two functions that request the metrics: over the socket like `wmsd status`, and like Prometheus."""
    folder, connection = DataFolder(made.data), server.connect()
    headers = {"Authorization": f"Bearer {TOKEN}"}

    def status() -> None:
        if figures_of(folder) is None:
            raise Failed("the server did not report its numbers.")

    return status, lambda: get(connection, "/metrics", headers)


def _median(ask: Callable[[], object]) -> float:
    """Return the median duration of `ask` in seconds.

    After the pause between two requests, the server no longer uses the metrics that it has cached.
    """
    ask()
    found = []
    for _ in range(ROUNDS):
        time.sleep(HOLDS_SECONDS + 0.05)
        began = time.perf_counter()
        ask()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def _use(site: Site, server: Server) -> None:
    progress(f"using {USED} of {COMPANIES} companies")
    time.sleep(SETTLED_SECONDS)
    connection = server.connect()
    for company_id, token in site.companies[:USED]:
        get(connection, "/api/articles/1", Company(company_id, "", token).headers)


def _open_companies(server: Server) -> set[str]:
    names = set()
    for each in Path(f"/proc/{server.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # the file was closed meanwhile
            names.add(str(each.readlink()))
    return {name for name in names if "/companies/" in name}
