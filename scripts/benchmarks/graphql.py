"""How many bytes a second GraphQL serves, compared with REST's lists, and how fast hostile queries are refused."""

import http.client
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks import fresh
from benchmarks.figures import GRAPHQL_ORDERS, GRAPHQL_REFUSED, Figure
from benchmarks.load import Target, rates
from benchmarks.order_lists import company_with_orders
from benchmarks.processes import Failed, Server, progress, wmsd_server
from benchmarks.site import Company, installation
from benchmarks.size import sized

ORDERS: Final = sized(200, 60)
CONNECTIONS: Final = 32
OF_AN_ARTICLE: Final = """
    id code name unit description barcode barcodes unit_3pl um3pl_factor min_stock track_lot track_serial weight_kg
    length_mm width_mm height_mm over_receipt_pct active client_id external_ref created_at updated_at
"""
OF_A_LINE: Final = "id article_id article_code quantity warehouse_id lot_number serials"
WHOLE: Final = f"""{{ sales_orders(first: 50) {{ nodes {{
    id code status partner_id warehouse_id client_id external_ref notes requested_date
    lines {{ {OF_A_LINE} article {{ {OF_AN_ARTICLE} }} }}
    status_history {{ status at }} created_at updated_at
}} pageInfo {{ endCursor }} }} }}"""
"""A query for everything that REST returns of the orders and their articles."""
SOME: Final = "{ sales_orders(first: 50) { nodes { code status lines { quantity article { code name } } } } }"
LISTS: Final = (("/api/sales-orders", 50, ORDERS // 50), ("/api/articles", 100, 1))
"""The address of each list, the size of its pages, and the number of pages to request."""
SCRIPT: Final = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==[%s]==]
"""
BOMB: Final = "".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }} " for n in range(25))
HOSTILE: Final = {
    "depth": "{ stock { nodes { article { stock { article { stock { article { stock { id } } } } } } } } }",
    "nesting": "{a" * 400 + "}" * 400,
    "aliases": "{" + " ".join(f"a{n}: article(id: {n}) {{ code }}" for n in range(90)) + "}",
    "repeated fields": "{ article(id: 1) {" + " id" * 900 + "} }",
    "fragments": f"{{ ...F0 }} {BOMB} fragment F25 on Query {{ __typename }}",
    "directives": "{ article(id: 1) " + "@include(if: true) " * 120 + "{ id } }",
    "tokens": "{" + " x" * 20_000 + "}",
    "cost": "{ sales_orders(first: 500) { nodes { lines { article { stock(first: 500) { id } } } } } }",
    "the schema, in circles": "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
    "unknown fields": "{" + " ".join(f"sales_ordres{n}" for n in range(200)) + "}",
}
TIMES: Final = sized(100, 1)


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = company_with_orders(site, "GRAPH", ORDERS)
        with wmsd_server(site.data) as wmsd:
            progress(GRAPHQL_ORDERS)
            yield from _served(wmsd, company, site.data.parent)
            progress(GRAPHQL_REFUSED)
            yield from _refused(wmsd, company)


def _served(wmsd: Server, company: Company, folder: Path) -> Iterator[Figure]:
    """Measure how many megabytes per second GraphQL serves, compared with REST.

    One GraphQL query returns orders with their articles. REST needs two lists for this, so the times of both lists
    are added. No list comes from a cache.
    """
    whole, some = (_target(wmsd, company, folder, query) for query in (WHOLE, SOME))
    lists = [
        Target(wmsd.url, company.headers, fresh.script(folder / f"{last}.lua", fresh.pages(path, per_page, last)))
        for path, per_page, last in LISTS
    ]
    found = rates([whole, some, *lists], CONNECTIONS)
    sizes = [len(_ask(wmsd, company, query)) for query in (WHOLE, SOME)]
    listed = [len(wmsd.get(f"{path}?per_page={per_page}", company.headers)) for path, per_page, _ in LISTS]
    seconds = sum(1 / rate for rate in found[2:])
    served = found[0] * sizes[0] / 1e6
    yield Figure(GRAPHQL_ORDERS, "MB/s", served, sum(listed) / seconds / 1e6)
    yield Figure("the same beside the list of orders alone", "MB/s", served, found[2] * listed[0] / 1e6)
    yield Figure("such queries, against such pairs of lists", "1/s", found[0], 1 / seconds)
    yield Figure("queries for a few of their fields, against such pairs", "1/s", found[1], 1 / seconds)


def _refused(wmsd: Server, company: Company) -> Iterator[Figure]:
    taken: dict[str, list[float]] = {name: [] for name in HOSTILE}
    for _ in range(TIMES):
        for name, query in HOSTILE.items():
            began = time.monotonic()
            answer = json.loads(_ask(wmsd, company, query))
            taken[name].append((time.monotonic() - began) * 1000)
            if "data" in answer:
                raise Failed(f"the hostile query {name!r} was run: {str(answer)[:300]}")
    yield Figure(GRAPHQL_REFUSED, "ms", _p99([each for times in taken.values() for each in times]))
    slowest = max(taken, key=lambda name: statistics.median(taken[name]))
    yield Figure(f"the slowest of them, {slowest}: median", "ms", statistics.median(taken[slowest]))


def _p99(found: list[float]) -> float:
    return statistics.quantiles(found, n=100)[98]


def _target(wmsd: Server, company: Company, folder: Path, query: str) -> Target:
    script = folder / f"{len(query)}.lua"
    script.write_text(SCRIPT % json.dumps({"query": query}), encoding="utf-8")
    return Target(f"{wmsd.url}/api/graphql", company.headers, script)


def _ask(wmsd: Server, company: Company, query: str) -> bytes:
    connection: http.client.HTTPConnection = wmsd.connect()
    headers: dict[str, Any] = {**company.headers, "Content-Type": "application/json"}
    try:
        connection.request("POST", "/api/graphql", json.dumps({"query": query}), headers)
        return connection.getresponse().read()
    finally:
        connection.close()
