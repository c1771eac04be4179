"""`wmsd logs`: filters, and following the log of a server."""

import json
import subprocess
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.command import PROGRAM, Home, first_day
from tests.support.forked import FIXED
from wmsd.host.systemd import commands, journal

LOGGED = {"WMSD_LOG_FILE": "wmsd.log"}
HOSTILE = "/api/hostile%0A2026-11-24%20forged%1B[2J%E2%80%AE?search=%0A"


@pytest.fixture
def logged(home: Home) -> Home:
    """Create a home whose log has requests of ACME, and a refused request."""
    first_day(home)
    with home.serving(env=LOGGED) as server:
        assert server.get("/api/articles")[0] == 200
        assert server.get("/api/articles/99")[0] == 404
        assert server.get("/api/articles", token="wrong")[0] == 401
        server.get(HOSTILE)
        request = urllib.request.Request(
            f"{server.address}/api/articles", headers={"X-Request-Id": "mine", "User-Agent": "a\x1b[2J"}
        )
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(request)
        assert server.stop() == 0
    return home


def shown(home: Home, *options: str) -> list[str]:
    return home.run("logs", *options, env=LOGGED).out.splitlines()


def test_lines_say_who_asked_and_from_where_and_hold_no_secret(logged: Home) -> None:
    lines = shown(logged)
    (asked,) = [each for each in lines if "GET /api/articles 200" in each]
    assert " company=1 user=1 token=1 from=127.0.0.1 request=" in asked
    assert "eyJ" not in "\n".join(lines)
    assert all(each.isprintable() for each in lines)
    (hostile,) = [each for each in lines if "hostile" in each]
    assert "forged" in hostile
    assert "search" not in hostile, "what people look for stands in no log"


def test_lines_are_chosen_by_company_request_level_and_time(logged: Home) -> None:
    by_code = shown(logged, "--company", "ACME")
    assert by_code
    assert all("company=1" in each for each in by_code)
    assert shown(logged, "--company", "1") == by_code
    assert shown(logged, "--company", "2") == []
    request = by_code[0].rpartition("request=")[2]
    assert shown(logged, "--request", request) == [by_code[0]]
    assert shown(logged, "--level", "error") == []
    assert shown(logged, "--since", "1h") == shown(logged, "-n", "1000000")
    for past in ("1d", "2020-01-01"):
        assert shown(logged, "--since", past) == shown(logged, "-n", "1000000")
    for future in ("2999-01-01T00:00:00Z", "2999-01-01"):
        assert shown(logged, "--since", future) == []
    assert shown(logged, "-n", "2") == shown(logged)[-2:]


def test_that_there_is_nothing_to_show_is_said(logged: Home) -> None:
    none = logged.run("logs", "--request", "abc", env=LOGGED)
    assert (none.code, none.out, none.err.splitlines()[-1]) == (0, "", "No log lines match these filters.")
    assert "No log lines" not in logged.run("logs", "--company", "ACME", env=LOGGED).err
    (logged.folder / "wmsd.log").write_text("")
    empty = logged.run("logs", env=LOGGED)
    assert (empty.code, empty.out, empty.err) == (0, "", "The log is empty.\n")


def test_as_json_each_is_an_object(logged: Home) -> None:
    lines = [json.loads(each) for each in shown(logged, "--json", "--company", "ACME")]
    assert {each["company_id"] for each in lines} == {"1"}
    assert lines[0]["message"].startswith("GET /api/articles 200")
    assert lines[0]["level"] == "info"


def test_local_time_has_its_offset_and_is_read_back(home: Home) -> None:
    first_day(home)
    zone = {**LOGGED, "WMSD_LOG_LOCAL_TIME": "true", "TZ": "Europe/Bucharest"}
    with home.serving(env=zone) as server:
        assert server.get("/api/articles")[0] == 200
        assert server.stop() == 0
    (line,) = [each for each in shown(home) if "GET /api/articles 200" in each]
    written = datetime.fromisoformat(line[:25])
    assert written.utcoffset() is not None
    assert line[19:25] in ("+02:00", "+03:00")
    assert abs((datetime.now(UTC) - written).total_seconds()) < 600
    (told,) = [json.loads(each) for each in shown(home, "--json", "--company", "ACME")]
    assert datetime.fromisoformat(told["time"]) == written


def test_what_cannot_be_shown_says_what_to_set(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Set log.file" in home.refused("logs")
    assert "no server has written it yet" in home.refused("logs", env=LOGGED)
    assert "There is no company" in home.refused("logs", "--company", "NONE", env=LOGGED) or not home.data.exists()


def test_it_follows_a_server(home: Home) -> None:
    first_day(home)
    with home.serving(env=LOGGED) as server:
        command = [*PROGRAM, "logs", "--follow", "-n", "1"]
        with subprocess.Popen(
            command, cwd=home.folder, env={**FIXED, **LOGGED}, stdout=subprocess.PIPE, text=True
        ) as following:
            assert following.stdout is not None
            assert following.stdout.readline()
            assert server.get("/api/articles/77")[0] == 404
            until = time.monotonic() + 20
            while "GET /api/articles/77 404" not in following.stdout.readline():
                assert time.monotonic() < until
            following.send_signal(2)
            assert following.wait(20) == 0


def test_a_reader_that_has_enough_ends_it_quietly(logged: Home) -> None:
    log = logged.folder / "wmsd.log"
    log.write_text(log.read_text() * 2000)
    command = f"{' '.join(map(repr, PROGRAM))} logs -n 100000 | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=logged.folder,
        env={**FIXED, **LOGGED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_the_journal_is_asked_where_wmsd_is_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "journalctl"
    program.write_text('#!/bin/sh\necho "2026-11-24 12:00:01 info    $*"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(commands, "systemd_runs", lambda: True)
    monkeypatch.setattr(journal, "UNIT_FILE", program)
    assert journal.is_there()
    since = datetime(2026, 11, 24, tzinfo=UTC)
    asked = journal.command(since, 200, is_following=True)
    assert list(journal.lines(asked)) == [
        "2026-11-24 12:00:01 info    --unit=wmsd --output=cat --no-pager --quiet "
        f"--since=@{int(since.timestamp())} --lines=200 --follow"
    ]
