"""Tests of what the dispatcher says of a failure, to the caller and in the log."""

import errno
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.dispatching import creation, performed
from tests.support.world import World
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch import dispatcher
from wmsd.dispatch.call import Loaded

NO_DISK = "The server cannot use its disk now; nothing was changed. Tell the platform admin."
SHORT = "The server is short of memory, threads or open files; nothing was changed. Try again in a few seconds."
TOO_LONG = "This request took more than 5 s and was stopped. Ask for fewer records."
MISTAKE = {
    "code": "SERVER_ERROR",
    "message": "The server had an internal error. Look for the request id in its log.",
}


def has_a_mistake(tx: Transaction) -> None:
    raise KeyError("a mistake")


def has_a_wrong_statement(tx: Transaction) -> None:
    tx.execute("SELECT 1 FROM missing")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("action", "error"), [(has_a_mistake, KeyError), (has_a_wrong_statement, sqlite3.OperationalError)]
)
async def test_a_mistake_of_the_program_is_told_to_the_log_alone(
    world: World,
    caplog: pytest.LogCaptureFixture,
    action: Callable[[Transaction], Any],
    error: type[Exception],
    method: str,
) -> None:
    answer = await performed(world, method, action)
    assert (answer.status, answer.body) == (500, MISTAKE)
    (record,) = (record for record in caplog.records if record.name == "wmsd.dispatcher")
    assert (record.getMessage(), record.levelno) == ("try_it failed", logging.ERROR)
    assert vars(record)["request_id"] == "r-1"
    assert record.exc_info is not None
    assert record.exc_info[0] is error, "with its trace"


@pytest.mark.parametrize(
    ("method", "path", "fails"),
    [
        ("GET", "/api/articles", "reads of company 1"),
        ("POST", "/api/articles", "writes to company 1"),
        ("GET", "/api/user", "reads of platform.db"),
    ],
)
async def test_a_failing_disk_is_told_with_what_fails_and_for_which_request(
    world: World, caplog: pytest.LogCaptureFixture, method: str, path: str, fails: str
) -> None:
    def fail(tx: Transaction) -> None:
        connect(world.installation.folder.path / "missing.db")

    answer = await performed(world, method, fail, path)
    assert (answer.status, answer.body["message"], answer.headers["Retry-After"]) == (503, NO_DISK, "30")
    told = [record for record in caplog.records if record.name == "wmsd.dispatcher"]
    assert [(record.getMessage(), vars(record)["request_id"], record.exc_info) for record in told] == [
        (f"{fails} fail: unable to open database file", "r-1", None)
    ]
    assert world.installation.files.failed == {}, "the disk is to blame, and not the file"


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "Too many open files"), RuntimeError("can't start new thread")]
)
async def test_a_shortage_is_told_as_what_it_is(
    world: World, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fall_short(tx: Transaction) -> None:
        raise error

    answer = await performed(world, "GET", fall_short)
    assert (answer.status, answer.body["message"], answer.headers["Retry-After"]) == (503, SHORT, "5")
    told = [record for record in caplog.records if record.name == "wmsd.dispatcher"]
    assert [(record.getMessage(), record.exc_info) for record in told] == [
        (f"requests are refused: {error}", None)
    ]


async def test_a_read_that_takes_too_long_is_told_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "READ_SECONDS", -1.0)
    answer = await world.call("GET", "/api/articles?search=alpha", status=503)
    assert (answer.body["message"], answer.headers["Retry-After"]) == (TOO_LONG, "5")


async def test_a_mistake_before_anything_is_done_is_told_too(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def load() -> Loaded:
        raise KeyError("a mistake")

    reply = await world.installation.dispatcher.dispatch(creation(world, load))
    assert (reply.status, json.loads(reply.body)) == (500, MISTAKE)
    (record,) = (record for record in caplog.records if record.name == "wmsd.dispatcher")
    assert (record.getMessage(), vars(record)["request_id"]) == ("create_article failed", "r-1")
