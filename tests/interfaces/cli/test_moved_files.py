"""Somebody removes or replaces the files of a company while they are in use: no write goes into nothing."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import LONGEST, Home, Server, first_day
from wmsd.db.sqlite import connect


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    return home


@pytest.fixture
def server(installation: Home) -> Iterator[Server]:
    unlimited = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}
    with installation.serving(env=unlimited) as server:
        yield server


@pytest.fixture
def file(installation: Home) -> Path:
    return installation.data / "companies" / "1.db"


def post(server: Server, code: str, company: int = 1) -> int:
    return server.send("POST", "/api/articles", {"code": code, "name": code}, company=company)[0]


def codes(server: Server) -> list[str]:
    return [record["code"] for record in server.get("/api/articles")[1]["data"]]


def written(server: Server, count: int = 5) -> list[str]:
    made = [f"A{number}" for number in range(count)]
    assert [post(server, code) for code in made] == [201] * count
    return made


def is_stopped(server: Server) -> None:
    """That company alone."""
    assert post(server, "LOST") == 503
    assert server.get("/api/articles")[0] == 503
    assert post(server, "GOES-ON", company=2) == 201
    assert server.get("/api/health", token="", company=None)[1]["status"] == "degraded"


def works_again(server: Server) -> None:
    until = time.monotonic() + LONGEST
    while post(server, "AGAIN") != 201:
        assert time.monotonic() < until, server.log
        time.sleep(0.05)


def told(server: Server, words: str) -> int:
    return sum(words in line for line in server.log.splitlines())


def test_a_file_that_is_moved_away_and_back(server: Server, file: Path) -> None:
    made = written(server)
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    is_stopped(server)
    assert told(server, "unavailable: data/companies/1.db was removed or replaced while it was in use") == 1
    elsewhere.rename(file)
    works_again(server)
    assert codes(server) == [*made, "AGAIN"]
    assert list(file.parent.glob("1.db.removed-*")) == []


def test_a_file_that_is_removed_is_kept_under_another_name(installation: Home, server: Server, file: Path) -> None:
    made = written(server)
    file.unlink()
    is_stopped(server)
    until = time.monotonic() + LONGEST
    while not told(server, "company 1: what its file held is in data/companies/1.db.removed-"):
        assert time.monotonic() < until, server.log
        time.sleep(0.05)
    server.stop()
    (kept,) = file.parent.glob("1.db.removed-*")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.rename(file)
    with installation.serving() as again:
        assert codes(again) == made
        assert post(again, "AGAIN") == 201


def test_what_was_kept_is_served_again_when_it_is_put_back(server: Server, file: Path) -> None:
    made = written(server)
    file.unlink()
    is_stopped(server)
    until = time.monotonic() + LONGEST
    while not (kept := [*file.parent.glob("1.db.removed-*")]) or not told(server, "what its file held is in"):
        assert time.monotonic() < until, server.log
        time.sleep(0.05)
    kept[0].rename(file)
    works_again(server)
    assert codes(server) == [*made, "AGAIN"]


def test_a_file_that_is_replaced_is_left_alone_until_the_next_start(
    installation: Home, server: Server, file: Path
) -> None:
    made = written(server, 1)
    server.stop()
    backup = shutil.copy(file, installation.folder / "backup")
    with installation.serving() as running:
        assert post(running, "LATER") == 201
        shutil.copy(backup, file.with_name("new"))
        file.with_name("new").replace(file)
        before = file.read_bytes()
        is_stopped(running)
        assert file.read_bytes() == before
        running.stop()
    (kept,) = file.parent.glob("1.db.removed-*")
    connection = connect(kept)
    assert connection.execute("SELECT code FROM articles").fetchall() == [(*made,), ("LATER",)]
    connection.close()
    with installation.serving() as again:
        assert codes(again) == made


def test_a_log_that_is_removed_costs_nothing(installation: Home, server: Server, file: Path) -> None:
    made = written(server)
    file.with_name("1.db-wal").unlink()
    works_again(server)
    server.kill()
    with installation.serving() as again:
        assert codes(again) == [*made, "AGAIN"]


def test_what_is_read_stops_too(server: Server, file: Path) -> None:
    written(server)
    file.rename(file.with_name("elsewhere"))
    server.soon("/api/articles", lambda status, _: status == 503)
