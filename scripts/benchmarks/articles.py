"""The speed of API answers, compared with a bare server that answers the same bytes."""

import json
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.figures import ONE_ARTICLE, PAGE_OF_ARTICLES, Figure
from benchmarks.load import ROUNDS, Target, drive, rates
from benchmarks.processes import UNLIMITED, Failed, Server, environment, free_port, progress, server, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

ARTICLES: Final = sized(10_000, 60)
ARTICLE: Final = f"/api/articles/{ARTICLES // 2}"
PAGE: Final = "/api/articles?per_page=50"
STOCK: Final = "/api/v2/stock?per_page=50"
CASES: Final = (
    # the requested path, the route of the floor, the connections, the name of the figure
    (ARTICLE, "/api/articles/{id}", 32, ONE_ARTICLE),
    (ARTICLE, "/api/articles/{id}", 1, "GET /api/articles/{id}, 1 connection"),
    (PAGE, "/api/articles", 32, PAGE_OF_ARTICLES),
    (PAGE, "/api/articles", 1, "GET /api/articles?per_page=50, 1 connection"),
    (STOCK, "/api/v2/stock", 32, "GET /api/v2/stock?per_page=50&cursor=…, 32 connections"),
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
        paths = {path: path for path, _, _, _ in CASES}
        paths[STOCK] = f"{STOCK}&cursor={_next_cursor(wmsd, company)}"
        answers = {route: wmsd.get(paths[path], company.headers) for path, route, _, _ in CASES}
        with _floor(site.data.parent, answers) as floor:
            for path, _, connections, name in CASES:
                progress(name)
                _check_equal(wmsd, floor, paths[path], company)
                targets = [Target(each.url + paths[path], company.headers) for each in (floor, wmsd)]
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


def _next_cursor(wmsd: Server, company: Company) -> str:
    return str(json.loads(wmsd.get(STOCK, company.headers))["next_cursor"])


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
