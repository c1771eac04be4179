"""What was acknowledged is there after a kill -9."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import Home, Program, Server, first_day
from wmsd.db.sqlite import connect

UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000", "WMSD_LOG_REQUESTS": "false"}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    program = Program(tmp_path)
    yield Home(program, tmp_path)
    program.end()


class Poster(threading.Thread):
    """Posts articles one after another, and remembers which were acknowledged."""

    def __init__(self, server: Server, name: str) -> None:
        super().__init__()
        self.server = server
        self.prefix = name
        self.acknowledged: list[str] = []

    def run(self) -> None:
        place = 0
        while True:
            code = f"{self.prefix}-{place}"
            request = urllib.request.Request(
                f"{self.server.address}/api/articles",
                data=json.dumps({"code": code, "name": "x"}).encode(),
                headers={
                    "Authorization": f"Bearer {self.server.token}",
                    "X-Company-Id": "1",
                    "Content-Type": "application/json",
                },
            )
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    answer.read()
            except (OSError, urllib.error.URLError):
                return
            self.acknowledged.append(code)
            place += 1


def test_what_was_acknowledged_is_there_after_a_kill(home: Home) -> None:
    with first_day(home).serving(env=UNLIMITED) as server:
        posters = [Poster(server, f"P{number}") for number in range(8)]
        for poster in posters:
            poster.start()
        time.sleep(1.5)
        server.kill()
        for poster in posters:
            poster.join()
    acknowledged = {code for poster in posters for code in poster.acknowledged}
    assert len(acknowledged) > 50
    connection = connect(home.data / "companies" / "1.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    kept = {row[0] for row in connection.execute("SELECT code FROM articles WHERE code LIKE 'P%-%'")}
    told = {
        row[0] for row in connection.execute("SELECT data ->> 'code' FROM events WHERE event = 'article.created'")
    }
    connection.close()
    assert acknowledged <= kept
    assert kept <= told
    assert len(kept - acknowledged) <= len(posters), "at most what was under way"
    with home.serving(env=UNLIMITED) as again:
        assert again.get("/api/health", token="")[0] == 200
