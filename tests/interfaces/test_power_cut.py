"""Acknowledged writes exist after a kill -9."""

import http.client
import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.contention import BATCH, V1, V2, Post, order
from tests.support.forked import LONGEST, Program
from tests.support.raw_http import without_replays
from tests.support.wholeness import NOT_TOLD_ONCE
from wmsd.db.engine.sqlite import connect

ENOUGH = 60
"""After more acknowledged requests than this, a test kills the server."""
UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000", "WMSD_LOG_REQUESTS": "false"}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    program = Program(tmp_path)
    yield Home(program, tmp_path)
    program.end()


class Poster(threading.Thread):
    """A thread that posts one record after another, with the record's name as idempotency key, and remembers the
    replies.
    """

    def __init__(self, server: Server, name: str, path: str, body: Callable[[str], Any]) -> None:
        super().__init__()
        self.server = server
        self.prefix = name
        self.path = path
        self.body = body
        self.asked: list[str] = []
        self.acknowledged: dict[str, bytes] = {}

    def run(self) -> None:
        while True:
            name = f"{self.prefix}-{len(self.asked)}"
            self.asked.append(name)
            try:
                self.acknowledged[name] = self.post(name, self.server)
            except (OSError, http.client.HTTPException):
                return

    def post(self, name: str, server: Server) -> bytes:
        request = urllib.request.Request(
            f"{server.address}{self.path}",
            data=json.dumps(self.body(name)).encode(),
            headers={
                "Authorization": f"Bearer {server.token}",
                "X-Company-Id": "1",
                "Content-Type": "application/json",
                "Idempotency-Key": name,
            },
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            raw: bytes = answer.read()
        return raw


def rows(home: Home, sql: str) -> list[Any]:
    """Return rows of the company's file."""
    connection = connect(home.data / "companies" / "1.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def posted_until_killed(server: Server, posters: Sequence[Poster]) -> None:
    """Kill the server while the posters work, after enough acknowledged requests."""
    for poster in posters:
        poster.start()
    until = time.monotonic() + LONGEST
    while sum(len(poster.acknowledged) for poster in posters) <= ENOUGH and time.monotonic() < until:
        time.sleep(0.02)
    server.kill()
    for poster in posters:
        poster.join()
    assert sum(len(poster.acknowledged) for poster in posters) > ENOUGH


def test_what_was_acknowledged_is_there_after_a_kill(home: Home) -> None:
    with first_day(home).serving(env=UNLIMITED) as server:
        posters = [
            Poster(server, f"P{number}", "/api/articles", lambda name: {"code": name, "name": "x"})
            for number in range(8)
        ]
        posted_until_killed(server, posters)
    acknowledged = {code for poster in posters for code in poster.acknowledged}
    assert rows(home, "PRAGMA integrity_check") == [("ok",)]
    kept = {code for (code,) in rows(home, "SELECT code FROM articles WHERE code LIKE 'P%-%'")}
    told = {code for (code,) in rows(home, "SELECT data ->> 'code' FROM events WHERE event = 'article.created'")}
    assert acknowledged <= kept
    assert kept <= told
    assert len(kept - acknowledged) <= len(posters), "at most what was under way"
    with home.serving(env=UNLIMITED) as again:
        assert again.get("/api/health", token="")[0] == 200


STOCK = {
    "partners": "code,name,type\nP,First,CLIENT\n",
    "warehouses": "code,name\nMAIN,Main\n",
    "articles": "code,name\nA,Alpha\n",
    "stock": "article_code,warehouse_code,quantity\nA,MAIN,1000000\n",
}
ORDERS_IN = {V1: 1, V2: 1, BATCH: 3}


def notes(name: str, path: str) -> list[str]:
    """Return the notes of the orders in a request."""
    return [f"{name}.{place}" for place in range(ORDERS_IN[path])]


def orders(path: str) -> Callable[[str], Any]:
    return lambda name: Post(path, tuple(order(("A", 0.5), notes=note) for note in notes(name, path))).body


def test_orders_that_are_repeated_after_a_kill_are_there_once(home: Home) -> None:
    first_day(home)
    for kind, text in STOCK.items():
        home.ok("import", kind, "-", "--company", "ACME", stdin=text)
    with home.serving(env=UNLIMITED) as server:
        posters = [Poster(server, f"P{place}", path, orders(path)) for place, path in enumerate([*ORDERS_IN] * 3)]
        posted_until_killed(server, posters)
    asked = [(poster, name) for poster in posters for name in poster.asked]
    acknowledged = {
        note for poster, name in asked if name in poster.acknowledged for note in notes(name, poster.path)
    }
    kept = [note for (note,) in rows(home, "SELECT notes FROM sales_orders")]
    assert acknowledged <= set(kept)
    assert len(kept) == len(set(kept))
    home.ok("doctor")

    with home.serving(env=UNLIMITED) as again:
        for poster, name in asked:
            answer = without_replays(poster.post(name, again))
            assert poster.acknowledged.get(name, answer) == answer
    everything = sorted(note for poster, name in asked for note in notes(name, poster.path))
    assert sorted(note for (note,) in rows(home, "SELECT notes FROM sales_orders")) == everything
    assert rows(home, "SELECT quantity, reserved FROM stock") == [(10**12, 500_000 * len(everything))]
    assert rows(home, NOT_TOLD_ONCE) == []
    home.ok("doctor")
