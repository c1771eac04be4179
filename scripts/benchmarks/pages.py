"""The pages that people see: their cost compared with the API, their size, and the speed of search and labels.

It also measures how much the creation of orders slows down while many browsers show pages.
"""

import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final
from urllib.parse import urlencode

from benchmarks import label_pages, page_costs, search_box
from benchmarks.figures import ORDERS_BESIDE_BROWSERS, ORDERS_BESIDE_STREAMS, Figure
from benchmarks.load import ROUNDS, WARM_UP_SECONDS, Target, drive
from benchmarks.orders import company_with_goods, total, write_script
from benchmarks.processes import UNLIMITED, Failed, Server, environment, progress, wmsd_server
from benchmarks.site import ADMIN, PASSWORD, installation
from benchmarks.size import sized

STREAMS: Final = sized(200, 2)
STREAMS_OF_A_PERSON: Final = sized(20, 2)
BROWSERS: Final = sized(50, 2)
SETTINGS: Final = {"WMSD_LIMITS_PAGES_PER_MINUTE": "1000000", "WMSD_LIMITS_OPEN_PER_MINUTE": "1000000"}


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
            yield from page_costs.measure(wmsd, company, cookie)
            yield from label_pages.measure(wmsd, cookie)
            drive(target, 32, WARM_UP_SECONDS, ["warm", "0", "0"])
            while not total(wmsd, company):  # at the tiny size, a busy machine may create no order in time
                drive(target, 32, WARM_UP_SECONDS, ["again", "0", "0"])
            cookies = [sign_in(wmsd, email) for email in people] * STREAMS_OF_A_PERSON
            yield _orders_beside(ORDERS_BESIDE_STREAMS, wmsd, target, "live", cookies)
            yield _orders_beside(ORDERS_BESIDE_BROWSERS, wmsd, target, "today", cookies[:BROWSERS])
        yield search_box.growth(site, company)
    yield from search_box.measure(sign_in)


def sign_in(wmsd: Server, email: str = ADMIN) -> str:
    """Sign in with a password, and return the cookie of the new session."""
    form = urlencode({"email": email, "password": PASSWORD})
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    with closing(wmsd.connect()) as connection:
        connection.request("POST", "/sign-in", form, headers)
        answer = connection.getresponse()
        cookie = answer.headers.get("Set-Cookie", "").partition(";")[0]
    if not cookie:
        raise Failed(f"signing in was answered {answer.status}")
    return cookie


def _orders_beside(name: str, wmsd: Server, target: Target, kind: str, cookies: list[str]) -> Figure:
    """Measure the orders per second in turns with and without the open browsers."""
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
            raise Failed("the browsers could not start.")
        yield
        process.stdin.close()
    if process.returncode:
        raise Failed(f"the browsers ended with {process.returncode}.")
