"""Tests of a disk that fails during a sync, followed by a kill: every refusal is true."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST, Program
from tests.support.injected import SYNC, failing

NOTHING_CHANGED = "The server cannot use its disk now; nothing was changed. Tell the platform admin."


def article(code: str) -> dict[str, str]:
    return {"code": code, "name": code}


def codes(server: Server) -> list[str]:
    return [record["code"] for record in server.get("/api/articles")[1]["data"]]


@pytest.fixture
def installation(program: Program, home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def server(installation: Home) -> Iterator[Server]:
    with installation.serving() as server:
        assert server.send("POST", "/api/articles", article("BEFORE"))[0] == 201
        yield server


def test_what_was_refused_is_not_there_after_a_kill(installation: Home, server: Server) -> None:
    """A refused write is not there after a kill, although SQLite leaves it in the log, where a restart would find
    it.
    """
    with failing(server.process.pid, SYNC, when="1"):
        status, body = server.send("POST", "/api/articles", article("REFUSED"))
    assert (status, body["code"], body["message"]) == (503, "SERVICE_UNAVAILABLE", NOTHING_CHANGED)
    server.kill()
    with installation.serving() as again:
        assert codes(again) == ["BEFORE"]


def test_while_syncs_fail_the_outcome_is_unknown_and_nothing_more_is_written(
    installation: Home, server: Server
) -> None:
    with failing(server.process.pid, SYNC):
        status, body = server.send("POST", "/api/articles", article("UNKNOWN"))
        assert (status, body["code"]) == (503, "OUTCOME_UNKNOWN")
        assert body["message"].endswith("or repeat the request with the same Idempotency-Key.")
        for _ in range(3):
            status, body = server.send("POST", "/api/articles", article("REFUSED"))
            assert (status, body["message"]) == (503, NOTHING_CHANGED)
        assert codes(server) == ["BEFORE"]
    assert server.send("POST", "/api/articles", article("AFTER"))[0] == 201
    server.kill()
    with installation.serving() as again:
        assert codes(again) == ["BEFORE", "AFTER"]


def test_what_is_repeated_with_its_key_is_done_once(installation: Home, server: Server) -> None:
    with failing(server.process.pid, SYNC):
        assert server.send("POST", "/api/articles", article("ONCE"), key="k")[1]["code"] == "OUTCOME_UNKNOWN"
    server.kill()
    with installation.serving() as again:
        assert again.send("POST", "/api/articles", article("ONCE"), key="k")[0] == 201
        assert codes(again) == ["BEFORE", "ONCE"]


def health(server: Server, token: str | None = None) -> Any:
    return server.get("/api/health", token=token, company=None)[1]


def test_health_knows_that_writes_fail_and_when_they_work_again(server: Server) -> None:
    assert health(server)["status"] == "ok"
    with failing(server.process.pid, SYNC):
        assert server.send("POST", "/api/articles", article("UNKNOWN"))[0] == 503
        found = health(server)
        database = found["checks"]["database"]
        assert (found["status"], database["files_that_cannot_be_written"]) == ("degraded", 1)
        assert database["last_write"] < database["last_failed_write"]
        assert "last_write" not in health(server, token="")["checks"]["database"]
    until = time.monotonic() + LONGEST
    while health(server)["status"] != "ok":
        assert time.monotonic() < until, server.log
        time.sleep(0.1)
    assert codes(server) == ["BEFORE"]


def test_a_stop_while_the_disk_fails_is_a_stop(server: Server) -> None:
    with failing(server.process.pid, SYNC):
        assert server.send("POST", "/api/articles", article("UNKNOWN"))[0] == 503
        assert server.stop() == 0
    assert "Traceback" not in server.log
    assert server.log.rstrip().endswith("stopped")
