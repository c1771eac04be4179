"""The cost of downloading lists as files, compared with the API, and how long other requests wait meanwhile."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Final

from benchmarks.figures import BESIDE_DOWNLOADS, DOWNLOAD, DOWNLOAD_FOR_IMPORT, DOWNLOAD_OF_ORDERS, Figure
from benchmarks.list_pages import Reader
from benchmarks.load import Target, drive
from benchmarks.orders import company_with_goods, write_script
from benchmarks.page_costs import OF_COMPANY
from benchmarks.pages import SETTINGS, sign_in
from benchmarks.processes import UNLIMITED, Server, get, progress, wmsd_server
from benchmarks.search_box import fill_index
from benchmarks.site import Company, installation
from benchmarks.size import sized

ARTICLES: Final = sized(100_000, 500)
ARTICLE_PAGES: Final = "/api/articles/sync?per_page=500"
ORDER_PAGES: Final = "/api/v2/sales-orders?per_page=200"
ORDERING_SECONDS: Final = sized(5.0, 0.3)
AT_ONCE: Final = sized(100, 4)
"""The downloads that one user starts at the same time."""
HONEST_SECONDS: Final = sized(20.0, 0.5)
PAUSE_SECONDS: Final = 0.05


def measure() -> Iterator[Figure]:
    with installation() as site:
        company, other = company_with_goods(site), site.company("OTHER")
        site.load_articles(company, ARTICLES)
        fill_index(site, company)  # otherwise the server fills it during the measurements
        script = write_script(site.data.parent)
        with wmsd_server(site.data, {**UNLIMITED, **SETTINGS}) as wmsd:
            target = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
            drive(target, 32, ORDERING_SECONDS, ["warm", "0", "0"])
            cookie = sign_in(wmsd)
            for name, file, walked in (
                (DOWNLOAD, "articles.csv", ARTICLE_PAGES),
                (DOWNLOAD_FOR_IMPORT, "articles.csv?format=import", ARTICLE_PAGES),
                (DOWNLOAD_OF_ORDERS, "sales-orders.csv", ORDER_PAGES),
            ):
                progress(name)
                yield _against_the_api(name, wmsd, company, cookie, file, walked)
            progress(BESIDE_DOWNLOADS)
            yield _honest(wmsd, other, cookie)


def _against_the_api(name: str, wmsd: Server, company: Company, cookie: str, file: str, walked: str) -> Figure:
    """Measure a download, and the same records from the API, in seconds of the server's processor time."""
    with closing(wmsd.connect()) as connection:
        api = Reader(connection, company.headers)
        walk = _seconds(wmsd, lambda: api.walk_seconds(walked))
        load = _seconds(wmsd, lambda: get(connection, f"{OF_COMPANY}/{file}", {"Cookie": cookie}))
    return Figure(name, "s", load, walk)


def _seconds(wmsd: Server, work: Callable[[], object]) -> float:
    before = wmsd.processor_seconds()
    work()
    return wmsd.processor_seconds() - before


def _honest(wmsd: Server, other: Company, cookie: str) -> Figure:
    """Return the 99th percentile of another company's requests during many downloads, in milliseconds."""
    seconds = []
    with _downloads(wmsd, cookie), closing(wmsd.connect()) as connection:
        until = time.monotonic() + HONEST_SECONDS
        while time.monotonic() < until:
            began = time.perf_counter()
            get(connection, "/api/v2/articles?per_page=50", other.headers)
            seconds.append(time.perf_counter() - began)
            time.sleep(PAUSE_SECONDS)
    return Figure(BESIDE_DOWNLOADS, "ms", sorted(seconds)[int(len(seconds) * 0.99)] * 1000)


@contextmanager
def _downloads(wmsd: Server, cookie: str) -> Iterator[None]:
    """Run AT_ONCE downloads repeatedly until the context ends.

    A refused download is tried again after a second.
    """
    is_over = threading.Event()

    def download() -> None:
        while not is_over.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", wmsd.port, timeout=60)
            try:
                connection.request("GET", f"{OF_COMPANY}/articles.csv", headers={"Cookie": cookie})
                answer = connection.getresponse()
                while not is_over.is_set() and answer.read(100_000):
                    pass
                if answer.status != 200:
                    is_over.wait(1)
            except OSError:
                is_over.wait(1)
            finally:
                connection.close()

    threads = [threading.Thread(target=download, daemon=True) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
