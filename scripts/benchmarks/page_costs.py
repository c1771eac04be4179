"""The processor time of each page, compared with the API's answers for the same data, and how much a browser loads
for it.
"""

import http.client
import json
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final, NamedTuple

from benchmarks.figures import HEAVIEST_PAGE, PAGE_AGAINST_API, SCRIPTS, SCRIPTS_WITH_LINES, Figure
from benchmarks.list_pages import WARM_UP, Reader
from benchmarks.processes import Failed, Server, get, progress
from benchmarks.site import Company, article_code
from benchmarks.size import sized

LINES: Final = sized(1000, 10)
SHOWN: Final = sized(60, 2)
"""The number of orders with three lines."""
REQUESTS: Final = sized(200, 2)
LONG_REQUESTS: Final = sized(20, 2)
"""The number of requests for each page with LINES lines."""
SPELLINGS: Final = 13
"""The number of ways to write a number with zeros in front. The API accepts up to 15 digits."""
Ask = Callable[[int], None]
"""Requests something. The argument is the number of the round."""
OF_COMPANY: Final = "/companies/1"
ORDERS: Final = "/api/sales-orders"
LOADED: Final = re.compile(rb'(?:src|href)="(/pages/[^"]+)"')
ROWS: Final = b'<fieldset class="rows"'


def _of(order: str, others: Sequence[str]) -> tuple[str, ...]:
    return (f"{ORDERS}/{order}", *(each.replace("{order}", order) for each in others))


class Pair(NamedTuple):
    """A page of the company, and the API's paths for the same data: the record, and the lists that its page shows.

    `paths` is empty if the API has no such answers.
    """

    name: str
    page: str
    paths: tuple[str, ...] = ()
    requests: int = REQUESTS

    @property
    def is_print(self) -> bool:
        return "/prints/" in self.page or "/labels" in self.page


NAMES: Final = ("/api/partners/1", "/api/warehouses/1", "/api/articles?per_page=50")
"""The records whose names the page of an order shows."""
OF_ORDER: Final = (
    *NAMES,
    "/api/returns?per_page=20&sales_order_id={order}",
    "/api/stock?per_page=20&sales_order_id={order}",
    "/api/v2/packaging/balances?per_page=1&partner_id=1",
)
TO_CHOOSE: Final = (
    *NAMES,
    *(f"/api/{each}?per_page=100" for each in ("partners", "warehouses", "clients")),
    "/api/stock?per_page=50&warehouse_id=1",
)
"""The records from which the form of an order lets people choose, and the stock beside each line."""
OF_STOCK: Final = ("/api/articles?per_page=50", "/api/warehouses/1")
"""The records whose names the list of stock shows."""
OF_ARTICLE: Final = (
    f"/api/stock?per_page=20&article_code={article_code(1)}",
    "/api/sales-orders?per_page=20&article_id=1&status=CREAT,IN_LUCRU,INCARCAT",
    "/api/purchase-orders?per_page=20&article_id=1&status=CREAT,PARTIAL",
)
PAIRS: Final = (
    Pair("list of 50 articles", "/articles", ("/api/articles?per_page=50",)),
    Pair("list of 50 orders", "/sales-orders", (f"{ORDERS}?per_page=50", "/api/partners/1", "/api/warehouses/1")),
    Pair("list of 50 stock records", "/stock", ("/api/stock?per_page=50", *OF_STOCK)),
    Pair("an article with its stock and orders", "/articles/1", ("/api/articles/1", *OF_ARTICLE)),
    *(
        pair
        for name, order, requests in (
            ("an order", "1", REQUESTS),
            ("an order of 1 000 lines", "{long}", LONG_REQUESTS),
        )
        for pair in (
            Pair(name, f"/sales-orders/{order}", _of(order, OF_ORDER), requests),
            Pair(f"the form of {name}", f"/sales-orders/{order}/change", _of(order, TO_CHOOSE), requests),
            Pair(
                f"the delivery note of {name}",
                f"/sales-orders/{order}/prints/delivery-note",
                _of(order, NAMES),
                requests,
            ),
        )
    ),
    Pair("the form of a new order", "/sales-orders/new"),
    Pair("search results", "/search?text=steel"),
    Pair(
        "1 000 labels",
        f"/articles/1/labels?kind=article&size=label-sheet&count={LINES}",
        (),
        LONG_REQUESTS,
    ),
)
FURTHER: Final = ("/today", "/account", "/admin/users")
"""Pages outside the company whose size is measured too."""


def measure(wmsd: Server, company: Company, cookie: str) -> Iterator[Figure]:
    """Measure the pages of a company with articles, partners and stock."""
    long = _make_orders(wmsd, company)
    pairs = [
        each._replace(page=each.page.format(long=long), paths=tuple(path.format(long=long) for path in each.paths))
        for each in PAIRS
    ]
    yield from _costs(wmsd, company, cookie, pairs)
    yield from _weights(wmsd, cookie, pairs)


def _make_orders(wmsd: Server, company: Company) -> int:
    """Create the orders. Return the id of the order with LINES lines."""
    short = [{"article_id": number, "quantity": 1} for number in (1, 2, 3)]
    long = [{"article_id": number % 50 + 1, "quantity": 1} for number in range(LINES)]
    with closing(wmsd.connect()) as connection:
        for lines in (*[short] * SHOWN, long):
            body = json.dumps({"partner_id": 1, "warehouse_id": 1, "lines": lines, "customer_reference": "steel"})
            headers = {**company.headers, "Content-Type": "application/json"}
            connection.request("POST", ORDERS, body, headers)
            answer = connection.getresponse()
            made = json.loads(answer.read())
            if answer.status != 201:
                raise Failed(f"an order of {len(lines)} lines was answered {answer.status}: {str(made)[:300]}")
    return int(made["id"])


def _costs(wmsd: Server, company: Company, cookie: str, pairs: list[Pair]) -> Iterator[Figure]:
    api, pages = Reader(wmsd.connect(), company.headers), Reader(wmsd.connect(), {"Cookie": cookie})
    yield _cost_of("Today", wmsd, partial(_get_page, pages, "/today"), None, REQUESTS)
    for each in pairs:
        page, answers = partial(_get_page, pages, OF_COMPANY + each.page), partial(_get_all, api, each.paths)
        yield _cost_of(each.name, wmsd, page, answers if each.paths else None, each.requests)
    api.connection.close()
    pages.connection.close()


def _get_page(pages: Reader, path: str, _: int) -> None:
    pages.get(path)


def _get_all(api: Reader, paths: Sequence[str], number: int) -> None:
    """Request these paths.

    Leading zeros in `page` and `per_page` make the address of a list different in each round `number`, so that no
    answer comes from a cache.
    """
    zeros, more = "0" * (number % SPELLINGS), "0" * (number // SPELLINGS % SPELLINGS)
    for path in paths:
        by_page = "" if path.startswith("/api/v2") else f"page={more}1&"
        api.get(path.replace("per_page=", f"{by_page}per_page={zeros}"))


def _cost_of(name: str, wmsd: Server, page: Ask, answers: Ask | None, requests: int) -> Figure:
    """Measure the page and the API in turns, so that other work of the machine slows both.

    The medians are compared, because a job of the server that runs meanwhile slows only some requests.
    """
    progress(name)
    found: list[tuple[float, ...]] = [
        tuple(_milliseconds(wmsd, partial(each, number)) for each in (page, answers) if each is not None)
        for number in range(WARM_UP + requests)
    ]
    columns = [*zip(*found[WARM_UP:], strict=True)]
    for each, times in zip(("page", "API"), columns, strict=False):
        slowest = sorted(times)[int(len(times) * 0.99)]
        progress(f"  {each}: median {statistics.median(times):.2f} ms, p99 {slowest:.2f} ms")
    ours, *floor = map(statistics.median, columns)
    if not floor:
        return Figure(f"{name}: its processor time", "ms", ours)
    return Figure(f"{name} {PAGE_AGAINST_API}", "ms", ours, floor[0])


def _milliseconds(wmsd: Server, ask: Callable[[], object]) -> float:
    """Call `ask`, and return the processor time that the server used meanwhile, in milliseconds."""
    before = wmsd.processor_seconds()
    ask()
    return (wmsd.processor_seconds() - before) * 1000


def _weights(wmsd: Server, cookie: str, pairs: list[Pair]) -> Iterator[Figure]:
    """Measure the sizes in kB, as sent to a browser with an empty cache.

    Pages to print are left out, because they may be larger.
    """
    headers = {"Cookie": cookie, "Accept-Encoding": "gzip"}
    heaviest = ("", 0)
    scripts = {False: 0, True: 0}
    paths = [*FURTHER, *(OF_COMPANY + each.page for each in pairs if not each.is_print)]
    with closing(wmsd.connect()) as connection:
        for path in paths:
            page = get(connection, path, {"Cookie": cookie})
            loaded = {each.decode(): _weight(connection, each.decode(), headers) for each in LOADED.findall(page)}
            heaviest = max(
                heaviest,
                (path, _weight(connection, path, headers) + sum(loaded.values())),
                key=lambda each: each[1],
            )
            own = sum(size for name, size in loaded.items() if name.endswith(".js"))
            scripts[ROWS in page] = max(scripts[ROWS in page], own)
    progress(f"the heaviest page is {heaviest[0]}")
    yield Figure(HEAVIEST_PAGE, "kB", heaviest[1] / 1000)
    yield Figure(SCRIPTS, "kB", scripts[False] / 1000)
    yield Figure(SCRIPTS_WITH_LINES, "kB", scripts[True] / 1000)


def _weight(connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str]) -> int:
    return len(get(connection, path, headers))
