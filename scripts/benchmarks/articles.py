"""The speed of API answers, compared with a bare server that answers the same bytes."""

import json
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import fresh
from benchmarks.figures import (
    ONE_ARTICLE,
    PAGE_OF_ARTICLES,
    PAGE_OF_STOCK,
    SAME_PAGE_OF_ARTICLES,
    SAME_PAGE_OF_STOCK,
    Figure,
)
from benchmarks.load import ROUNDS, Target, drive, rates
from benchmarks.processes import UNLIMITED, Failed, Server, environment, free_port, progress, server, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

ARTICLES: Final = sized(10_000, 60)
ARTICLE: Final = f"/api/articles/{ARTICLES // 2}"
PAGE: Final = "/api/articles?per_page=50"
STOCK: Final = "/api/v2/stock?per_page=50"
PAGES_OF_STOCK: Final = sized(50, 1)
CASES: Final = (
    # the requested path, the route of the floor, the connections, whether no list is cached, the figure's name
    (ARTICLE, "/api/articles/{id}", 32, False, ONE_ARTICLE),
    (ARTICLE, "/api/articles/{id}", 1, False, "GET /api/articles/{id}, 1 connection"),
    (PAGE, "/api/articles", 32, True, PAGE_OF_ARTICLES),
    (PAGE, "/api/articles", 1, True, "GET /api/articles?per_page=50, 1 connection"),
    (PAGE, "/api/articles", 32, False, SAME_PAGE_OF_ARTICLES),
    (STOCK, "/api/v2/stock", 32, True, PAGE_OF_STOCK),
    (STOCK, "/api/v2/stock", 32, False, SAME_PAGE_OF_STOCK),
)
POSTS: Final = """
local number, prefix = 0, ""
function init(arguments)
  prefix = arguments[1]
  wrk.headers["Content-Type"] = "application/json"
end
function request()
  number = number + 1
  local body = '{"code":"' .. prefix .. number .. '","name":"Posted article ' .. number .. '"}'
  return wrk.format("POST", nil, nil, body)
end
"""


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = site.company("BENCH")
        site.load_articles(company, ARTICLES)
        site.load_stock(company, ARTICLES)
        yield from _quiet(site, company)
        yield from _logging(site, company)


def _quiet(site: Installation, company: Company) -> Iterator[Figure]:
    with wmsd_server(site.data) as wmsd:
        cursors = _cursors(wmsd, company)
        paths = {path: path for path, *_ in CASES}
        paths[STOCK] = f"{STOCK}&cursor={cursors[0]}"
        answers = {route: wmsd.get(paths[path], company.headers) for path, route, *_ in CASES}
        folder = site.data.parent
        scripts = {
            PAGE: fresh.script(folder / "articles.lua", fresh.pages("/api/articles", 50, ARTICLES // 50)),
            STOCK: fresh.script(folder / "stock.lua", fresh.by_cursor("/api/v2/stock", 50, cursors)),
        }
        with _floor(folder, answers) as floor:
            for path, _, connections, is_fresh, name in CASES:
                progress(name)
                _check_equal(wmsd, floor, paths[path], company)
                script = scripts[path] if is_fresh else None
                targets = [Target(each.url + paths[path], company.headers, script) for each in (floor, wmsd)]
                least, measured = rates(targets, connections)
                yield Figure(name, "requests/s", measured, least)
        yield _posts(site, wmsd, company)


def _logging(site: Installation, company: Company) -> Iterator[Figure]:
    """Measure the requests per second of a server that logs each request.

    The server has the default settings, except that it has no rate limits.
    """
    with wmsd_server(site.data, UNLIMITED) as wmsd:
        for path, name in ((ARTICLE, "/api/articles/{id}"), (PAGE, PAGE)):
            progress(f"GET {name} with the request log")
            (measured,) = rates([Target(wmsd.url + path, company.headers)], 32)
            yield Figure(f"GET {name} with the request log, 32 connections", "requests/s", measured)


def _cursors(wmsd: Server, company: Company) -> list[str]:
    """Return the cursors of the first pages of stock, without the first page."""
    found, path = list[str](), STOCK
    while len(found) < PAGES_OF_STOCK:
        found.append(json.loads(wmsd.get(path, company.headers))["next_cursor"])
        path = f"{STOCK}&cursor={found[-1]}"
    return found


@contextmanager
def _floor(folder: Path, answers: dict[str, bytes]) -> Iterator[Server]:
    file = folder / "answers.json"
    file.write_text(json.dumps({route: body.decode() for route, body in answers.items()}), encoding="utf-8")
    port = free_port()
    with server([sys.executable, "-m", "benchmarks.floor", str(port), file], port, folder, environment()) as floor:
        yield floor


def _check_equal(wmsd: Server, floor: Server, path: str, company: Company) -> None:
    ours, theirs = (each.get(path, company.headers) for each in (wmsd, floor))
    if ours != theirs:
        raise Failed(
            f"{path}: wmsd answers {len(ours)} bytes, but the floor answers {len(theirs)} different bytes."
        )


def _posts(site: Installation, wmsd: Server, company: Company) -> Figure:
    """Measure posts of articles.

    This comes after the comparisons with the floor, because it adds articles to the company. Raise Failed if fewer
    articles were created than posted.
    """
    name = "POST /api/articles, 32 connections"
    progress(name)
    script = site.data.parent / "posts.lua"
    script.write_text(POSTS, encoding="utf-8")
    target = Target(f"{wmsd.url}/api/articles", company.headers, script)
    before = _total(wmsd, company)
    loads = [drive(target, 32, arguments=[f"P{number}-"]) for number in range(ROUNDS)]
    posted, created = sum(load.requests for load in loads), _total(wmsd, company) - before
    if created < posted:
        raise Failed(f"{posted} articles were posted, {created} created.")
    return Figure(name, "requests/s", statistics.median(load.rate for load in loads))


def _total(wmsd: Server, company: Company) -> int:
    page = json.loads(wmsd.get("/api/articles?per_page=1", company.headers))
    total: int = page["meta"]["total"]
    return total
