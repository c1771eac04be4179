"""Tests of a system that allows few open files: companies take turns, and no company is refused."""

import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.support.command import Home, first_day

COMPANIES = 60
FILES = 192


def files_up_to(number: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))


def test_more_companies_than_may_have_their_files_open(home: Home) -> None:
    first_day(home)
    codes = [f"C{number}" for number in range(2, COMPANIES + 1)]
    for code in codes:
        home.ok("company", "create", code, "--name", code, "--all-modules")
    with home.serving(limits=files_up_to(FILES)) as server:

        def work(company: int) -> list[int]:
            body = {"code": "A", "name": "A"}
            return [
                server.send("POST", "/api/articles", body, company=company)[0],
                *(server.get("/api/articles", company=company)[0] for _ in range(3)),
            ]

        with ThreadPoolExecutor(16) as workers:
            found = list(workers.map(work, range(1, COMPANIES + 1)))
        assert found == [[201, 200, 200, 200]] * COMPANIES
        assert server.get("/api/health", token="", company=None)[1]["status"] == "ok"
