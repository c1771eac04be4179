"""The cost of a request for each public page: the first time, and once the answer is cached.

The cost is the processor time in milliseconds. Attackers can request these pages without credentials, so the most
expensive page matters.
"""

import http.client
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final
from urllib.parse import quote

from benchmarks.figures import OPEN_AGAIN, OPEN_FIRST, OPEN_SEARCH, Figure
from benchmarks.pages import SETTINGS
from benchmarks.processes import QUIET, Failed, Server, progress, wmsd_server
from benchmarks.site import installation
from benchmarks.size import sized

PAGES: Final[Mapping[str, str]] = {
    "/api": "/api",
    "/api/health": "/api/health",
    "/openapi.json": "/openapi.json",
    "/api/v2/meta": "/api/v2/meta",
    "/api/v2/openapi.json": "/api/v2/openapi.json",
    "/api/graphql/schema": "/api/graphql/schema",
    "/docs/api/graphql": "/docs/api/graphql",
    "/docs/api/graphql/{type}": "/docs/api/graphql/Article",
    "/docs/api/graphql-names.json": "/docs/api/graphql-names.json",
    "/docs/api": "/docs/api",
    "/docs/api/errors": "/docs/api/errors",
    "/docs/api/webhook-events": "/docs/api/webhook-events",
    "/docs/api/access": "/docs/api/access",
    "/docs/api/{group}": "/docs/api/articles",
    "/docs/api/{group}/{operation}": "/docs/api/articles/create_article",
    "/": "/",
    "/docs": "/docs",
    "/docs/search": "/docs/search",
    "/docs/{name}": "/docs/errors",
    "/pages/{name}": "/pages/nothing.css",
    "/sign-in": "/sign-in",
    "/first-admin": "/first-admin",
    "/demo": "/demo",
    "/welcome": "/welcome",
    "/trust": "/trust",
    "/trust/wmsd-authority.crt": "/trust/wmsd-authority.crt",
    "/sign-in/{provider}": "/sign-in/nothing",
    "/sign-in/{provider}/back": "/sign-in/nothing/back",
    "/live": "/live",
}
"""An address for each route that answers a GET without credentials."""
FURTHER: Final = ("/docs/nothing", "/nothing")
"""Addresses that do not exist."""
SEARCHES: Final = {
    "/docs/search?q={}": (
        "re ap co te se st in pr",
        "the is in of to a and it",
        "a t s w c o i th",
        "th a co wh of an it is",
    ),
    "/docs/api?q={}": ("e", "a e", "e t i", "o e a t i"),
}
"""The most expensive queries, by the address of the search: words and beginnings of words that are very common."""
ORDINARY: Final = (
    "token",
    "how to restore a backup",
    "sales_order.created",
    "webhook retry",
    "stock count import",
)
Ask = Callable[[], None]
REQUESTS: Final = sized(100, 2)
ROUNDS: Final = sized(5, 1)
ENCODINGS: Final = {"plain": "identity", "gzip": "gzip"}


def measure() -> Iterator[Figure]:
    with installation() as site:
        site.company("OPEN")
        with wmsd_server(site.data, {**QUIET, **SETTINGS}) as wmsd, closing(wmsd.connect()) as connection:
            # the first visit imports modules, which is not a cost of the page
            _get(connection, "/docs/api?q=imported", {})
            _get(connection, "/docs/search?q=imported", {})
            for address in (*PAGES.values(), *FURTHER):
                progress(address)
                yield from _of_page(wmsd, connection, address)
            for pattern, dearest in SEARCHES.items():
                for kind, queries in (("ordinary", ORDINARY), ("dearest", dearest)):
                    progress(f"{pattern} {kind}")
                    yield from _of_search(wmsd, connection, pattern, kind, queries)


def _of_page(wmsd: Server, connection: http.client.HTTPConnection, address: str) -> Iterator[Figure]:
    first = _milliseconds(wmsd, [partial(_get, connection, address, {})])
    yield Figure(f"{address} {OPEN_FIRST}", "ms", first)
    for name, coding in ENCODINGS.items():
        again = partial(_get, connection, address, {"Accept-Encoding": coding})
        yield Figure(f"{address} {name} {OPEN_AGAIN}", "ms", _kept(wmsd, again))


def _of_search(
    wmsd: Server, connection: http.client.HTTPConnection, pattern: str, kind: str, queries: Sequence[str]
) -> Iterator[Figure]:
    asked = _never_the_same(queries)
    for name, coding in ENCODINGS.items():
        get = partial(_get, connection, headers={"Accept-Encoding": coding})
        addresses = (pattern.format(each) for each in asked)
        first = min(_milliseconds(wmsd, (partial(get, next(addresses)) for _ in queries)) for _ in range(ROUNDS))
        yield Figure(f"{pattern.format(kind)} {name} {OPEN_SEARCH}", "ms", first)
        yield Figure(
            f"{pattern.format(kind)} {name} {OPEN_AGAIN}", "ms", _kept(wmsd, partial(get, next(addresses)))
        )


def _never_the_same(queries: Sequence[str]) -> Iterator[str]:
    """Yield the queries again and again with other capital letters, or with repeated words, quoted for an address.

    Each is different, so that no answer comes from a cache.
    """
    for number in itertools.count():
        for query in queries:
            letters = [at for at, letter in enumerate(query) if letter.isalpha()]
            capitals = {at for bit, at in enumerate(letters) if number >> bit & 1}
            typed = "".join(letter.upper() if at in capitals else letter for at, letter in enumerate(query))
            yield quote(" ".join([typed, *[query] * (number >> len(letters))]))


def _kept(wmsd: Server, ask: Ask) -> float:
    ask()
    return min(_milliseconds(wmsd, [ask] * REQUESTS) for _ in range(ROUNDS))


def _milliseconds(wmsd: Server, requests: Iterable[Ask]) -> float:
    """Return the average processor time of a request in milliseconds."""
    before, number = wmsd.processor_seconds(), 0
    for ask in requests:
        ask()
        number += 1
    return (wmsd.processor_seconds() - before) / number * 1000


def _get(connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str]) -> None:
    """Request the page. Raise Failed for the statuses 429, 500 and 503, which say nothing about the page."""
    connection.request("GET", path, headers=dict(headers))
    answer = connection.getresponse()
    answer.read()
    if answer.status in (429, 500, 503):
        raise Failed(f"GET {path} was answered {answer.status}.")
