"""The pages that people see: beside the API's answer with the same data, how much they load, and what it costs
orders that many browsers show them.
"""

import http.client
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Final
from urllib.parse import urlencode

from benchmarks.figures import (
    HEAVIEST_PAGE,
    ORDERS_BESIDE_BROWSERS,
    ORDERS_BESIDE_STREAMS,
    PAGE_AGAINST_API,
    SCRIPTS,
    Figure,
)
from benchmarks.list_pages import Reader, timed
from benchmarks.load import ROUNDS, WARM_UP_SECONDS, Target, drive
from benchmarks.orders import company_with_goods, total, write_script
from benchmarks.processes import UNLIMITED, Failed, Server, environment, get, progress, wmsd_server
from benchmarks.site import ADMIN, PASSWORD, Company, installation
from benchmarks.size import sized

STREAMS: Final = sized(200, 2)
STREAMS_OF_A_PERSON: Final = sized(20, 2)
BROWSERS: Final = sized(50, 2)
ORDERS: Final = 60
SETTINGS: Final = {"WMSD_LIMITS_PAGES_PER_MINUTE": "1000000", "WMSD_LIMITS_OPEN_PER_MINUTE": "1000000"}
LOADED: Final = re.compile(rb'(?:src|href)="(/pages/[^"]+)"')
OF_COMPANY: Final = "/companies/1"
PAIRS: Final = (
    ("list of 50 articles", "/articles", "/api/articles?per_page=50"),
    ("list of 50 orders", "/sales-orders", "/api/sales-orders?per_page=50"),
    ("list of 50 stock records", "/stock", "/api/stock?per_page=50"),
    ("an article with its stock", "/articles/1", "/api/articles/1"),
    ("an order", "/sales-orders/1", "/api/sales-orders/1"),
)
"""A page of the company, and the answer with the same data."""
WEIGHED: Final = ("/today", "/account", "/admin/users", *(OF_COMPANY + page for _, page, _ in PAIRS))


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = company_with_goods(site)
        people = [f"person{number}@example.com" for number in range(STREAMS // STREAMS_OF_A_PERSON)]
        for email in people:
            site.user(email)
        script = write_script(site.data.parent)
        with wmsd_server(site.data, {**UNLIMITED, **SETTINGS}) as wmsd:
            target = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
            cookie = sign_in(wmsd)
            drive(target, 32, WARM_UP_SECONDS, ["warm", "0", "0"])
            while not total(wmsd, company):  # at the tiny size a busy machine may make none
                drive(target, 32, WARM_UP_SECONDS, ["again", "0", "0"])
            yield from _against_the_api(wmsd, company, cookie)
            yield from _weights(wmsd, cookie)
            cookies = [sign_in(wmsd, email) for email in people] * STREAMS_OF_A_PERSON
            yield _orders_beside(ORDERS_BESIDE_STREAMS, wmsd, target, "live", cookies)
            yield _orders_beside(ORDERS_BESIDE_BROWSERS, wmsd, target, "today", cookies[:BROWSERS])


def sign_in(wmsd: Server, email: str = ADMIN) -> str:
    """The cookie of a new session."""
    form = urlencode({"email": email, "password": PASSWORD})
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    with closing(wmsd.connect()) as connection:
        connection.request("POST", "/sign-in", form, headers)
        answer = connection.getresponse()
        cookie = answer.headers.get("Set-Cookie", "").partition(";")[0]
    if not cookie:
        raise Failed(f"signing in was answered {answer.status}")
    return cookie


def _against_the_api(wmsd: Server, company: Company, cookie: str) -> Iterator[Figure]:
    api, pages = Reader(wmsd.connect(), company.headers), Reader(wmsd.connect(), {"Cookie": cookie})
    for name, page, path in PAIRS:
        progress(name)
        seconds = partial(pages.seconds, OF_COMPANY + page)
        yield timed(f"{name} {PAGE_AGAINST_API}", partial(api.seconds, path), seconds)


def _weights(wmsd: Server, cookie: str) -> Iterator[Figure]:
    """In kB, as they are sent to a browser that has nothing yet."""
    headers = {"Cookie": cookie, "Accept-Encoding": "gzip"}
    heaviest, scripts = 0, 0
    with closing(wmsd.connect()) as connection:
        for path in WEIGHED:
            page = get(connection, path, {"Cookie": cookie})
            loaded = {each.decode(): _weight(connection, each.decode(), headers) for each in LOADED.findall(page)}
            heaviest = max(heaviest, _weight(connection, path, headers) + sum(loaded.values()))
            own = [name for name in loaded if name.endswith(".js")]
            scripts = max(scripts, sum(len(get(connection, name, {})) for name in own))
    yield Figure(HEAVIEST_PAGE, "kB", heaviest / 1000)
    yield Figure(SCRIPTS, "kB", scripts / 1000)


def _weight(connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str]) -> int:
    return len(get(connection, path, headers))


def _orders_beside(name: str, wmsd: Server, target: Target, kind: str, cookies: list[str]) -> Figure:
    """In turns with and without the browsers."""
    alone, beside = [], []
    for number in range(ROUNDS):
        progress(f"{name}, {number + 1} of {ROUNDS}")
        alone.append(drive(target, 32, arguments=[f"{kind}{number}-", "0", str(number)]).rate)
        with _browsers(wmsd, kind, cookies):
            beside.append(drive(target, 32, arguments=[f"{kind}{number}+", "0", str(number)]).rate)
    return Figure(name, "orders/s", statistics.median(beside), statistics.median(alone))


@contextmanager
def _browsers(wmsd: Server, kind: str, cookies: list[str]) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.browsers", str(wmsd.port), kind, *cookies]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != "begun\n":
            raise Failed("the browsers could not begin.")
        yield
        process.stdin.close()
    if process.returncode:
        raise Failed(f"the browsers ended with {process.returncode}.")
