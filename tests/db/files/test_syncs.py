"""Tests of syncs: what is acknowledged is on disk.

The order of the system calls shows it, and reading a file later does not.
"""

import json
import urllib.request
from pathlib import Path

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.system_calls import MOVES, REMOVALS, SENDS, SYNCS, WRITES, calls, traced

LOG = "companies/1.db-wal>"


def post(server: Server, code: str) -> int:
    request = urllib.request.Request(
        f"{server.address}/api/articles",
        json.dumps({"code": code, "name": code}).encode(),
        {"Authorization": f"Bearer {server.token}", "X-Company-Id": "1", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return int(answer.status)


def test_no_write_is_answered_before_its_log_is_synced(home: Home, tmp_path: Path) -> None:
    first_day(home)
    trace = tmp_path / "trace"
    with home.serving(under=traced(trace, WRITES, SYNCS, SENDS)) as server:
        assert {post(server, f"A{number}") for number in range(10)} == {201}
        server.stop()
        assert server.process.stdout is not None
        server.process.stdout.read()  # wait until the tracer has finished too

    answered, written, unsynced = 0, 0, 0
    for call in calls(trace):
        if LOG in call.text and call.name in WRITES:
            written, unsynced = written + 1, unsynced + 1
        elif LOG in call.text and call.name in SYNCS:
            assert call.text.endswith("= 0"), call
            unsynced = 0
        elif call.name in SENDS and "HTTP/1.1 201" in call.text:
            assert written > 0, "the log was not seen"
            assert unsynced == 0
            answered, written = answered + 1, 0
    assert answered == 10


@pytest.mark.parametrize(("name", "folder"), [("platform.db", "data"), ("1.db", "companies")])
def test_a_new_file_is_synced_before_it_has_its_name_and_its_name_after(
    home: Home, tmp_path: Path, name: str, folder: str
) -> None:
    trace = tmp_path / "trace"
    create = ("company", "create", "ACME", "--name", "Acme", "--init")
    assert home.run_fresh(*create, under=traced(trace, WRITES, SYNCS, MOVES)).code == 0

    every = list(calls(trace))
    (named,) = (place for place, call in enumerate(every) if call.name in MOVES and f'{name}.new"' in call.text)
    of_file = [call for call in every[:named] if f"{name}.new>" in call.text or f'{name}.new"' in call.text]
    assert of_file[-1].name in SYNCS, "what was written to it last"
    after = every[named + 1]
    assert after.name in SYNCS, after
    assert f"/{folder}>" in after.text


def test_what_a_killed_server_left_in_the_log_is_synced_anew(home: Home, tmp_path: Path) -> None:
    """After a failed sync the system may take data for written that is not, and a power cut would lose it.

    The log is therefore synced again.
    """
    with first_day(home).serving() as server:
        assert post(server, "LEFT") == 201
        server.kill()
    trace = tmp_path / "trace"
    with home.serving(under=traced(trace, WRITES, SYNCS, REMOVALS)) as server:
        assert server.get("/api/articles")[0] == 200  # a start alone does not open the file
        server.stop()
        assert server.process.stdout is not None
        server.process.stdout.read()  # wait until the tracer has finished too

    every = [call for call in calls(trace) if "companies/1.db" in call.text]
    removed = next(place for place, call in enumerate(every) if call.name in REMOVALS and '1.db-wal"' in call.text)
    of_file = [call.name for call in every[:removed] if "companies/1.db>" in call.text]
    assert "pwrite64" in of_file
    assert of_file[-1] in SYNCS
