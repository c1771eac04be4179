"""Tests of a clock that is set while the server runs: the server continues normally and deletes nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.forked import Program
from tests.support.moved_clock import MovedClock
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

HOUR, YEAR = timedelta(hours=1), timedelta(days=365)
MOST_GROWN = 30_000_000
"""The most bytes by which the memory may grow. A server that counted every moment of a jump of 180 days took 1.7
GB.
"""


def resident(server: Server) -> int:
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.fixture(scope="module")
def moved(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Home:
    return first_day(Home(program, tmp_path_factory.mktemp("moved")))


@pytest.fixture
def clock(moved: Home, tmp_path: Path) -> MovedClock:
    moved.ok("clock", "confirm")
    return MovedClock.made(tmp_path / "clock")


@pytest.fixture
def server(moved: Home, clock: MovedClock) -> Iterator[Server]:
    unlimited = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000", "WMSD_LIMITS_REFUSED_PER_MINUTE": "100000"}
    with moved.serving(env={**clock.environment, **unlimited}) as server:
        server.soon("/api/user", lambda status, _: status == 200)
        yield server


def is_told(server: Server, status: str) -> None:
    server.soon("/api/health", lambda _, body: body["status"] == status, token="", company=None)


def acts_on_what_the_command_line_changes(moved: Home, server: Server) -> None:
    moved.ok("module", "disable", "ACME", "stock")
    server.soon("/api/stock", lambda status, _: status == 403)
    moved.ok("module", "enable", "ACME", "stock")
    server.soon("/api/stock", lambda status, _: status == 200)


@pytest.mark.parametrize("years", [1, 10])
def test_set_forward(moved: Home, server: Server, clock: MovedClock, years: int) -> None:
    before = resident(server)
    clock.stand(years * YEAR)
    is_told(server, "degraded")
    server.soon("/api/user", lambda status, _: status == 401)
    assert resident(server) - before < MOST_GROWN
    clock.stand(timedelta())
    is_told(server, "ok")
    server.soon("/api/user", lambda status, _: status == 200)
    acts_on_what_the_command_line_changes(moved, server)
    told = [line for line in server.log.splitlines() if "the clock" in line]
    assert [f"the clock was set forward by {365 * years} days" in told[0], len(told)] == [True, 2], told


def test_a_command_leaves_no_moment_of_a_wrong_clock_behind(
    moved: Home, server: Server, clock: MovedClock
) -> None:
    """A command leaves no time of a wrong clock behind.

    The changes of the command follow those of the server, which has seen the clock jump.
    """
    clock.stand(timedelta(days=21))
    is_told(server, "degraded")
    made = moved.run_fresh("article", "create", "N", "--name", "N", "--company", "ACME", env=clock.environment)
    assert made.code == 0, made.err
    clock.stand(timedelta())
    is_told(server, "ok")
    status, changed = server.send("PATCH", "/api/articles/1", {"name": "M"})
    assert (status, datetime.fromisoformat(changed["updated_at"]) < datetime.now(UTC) + HOUR) == (200, True)


@pytest.mark.parametrize("step", [HOUR, 10 * YEAR])
def test_set_back(moved: Home, server: Server, clock: MovedClock, step: timedelta) -> None:
    clock.stand(-step)
    is_told(server, "degraded")
    acts_on_what_the_command_line_changes(moved, server)
    moved.ok("clock", "confirm")
    is_told(server, "ok")


def test_a_start_in_1970_until_the_network_answers(moved: Home, clock: MovedClock) -> None:
    clock.stand(-56 * YEAR)
    with moved.serving(env=clock.environment) as server:
        is_told(server, "degraded")
        clock.stand(timedelta())
        is_told(server, "ok")
        server.soon("/api/user", lambda status, _: status == 200)


def test_the_command_line_tells_of_it(moved: Home, clock: MovedClock) -> None:
    with moved.serving(env=clock.environment) as server:
        assert moved.ok("clock", "show", "--json").json["steady"] is True
        clock.stand(2 * HOUR)
        is_told(server, "degraded")
    shown = moved.ok("clock", "show", "--json")
    assert (shown.json["steady"], shown.json["step_seconds"] // 3600) == (False, 2)
    assert "The clock was set forward by 2 h 0 min, so wmsd deletes no old data until " in shown.err
    done = moved.ok("doctor")
    assert done.code == ONLY_WARNINGS
    assert "Warning: The clock was set forward by 2 h 0 min, so wmsd deletes no old data until " in done.out
    moved.ok("clock", "confirm")
    assert moved.ok("clock", "show", "--json").json["steady"] is True


def test_a_start_with_a_wrong_clock_leaves_no_moment_of_it_behind(moved: Home, clock: MovedClock) -> None:
    """No record is changed at a start before the clock is compared with the last stored time."""
    with moved.serving(env=clock.environment) as server:
        assert server.stop() == 0
    clock.stand(timedelta(days=40))
    with moved.serving("--demo", env=clock.environment) as server:
        assert server.stop() == 0
    codes = [each["code"] for each in moved.ok("company", "list", "--json").json]
    assert "DEMO" in codes
    assert "The last change of company DEMO has the time " not in moved.run("doctor").out


def test_a_command_without_a_server_is_not_led_years_ahead_either(moved: Home, clock: MovedClock) -> None:
    with moved.serving():
        pass
    clock.stand(10 * YEAR)
    make = ("article", "create", "ALONE", "--name", "N", "--company", "ACME", "--json")
    made = moved.run_fresh(*make, env=clock.environment)
    assert made.code == 0, made.err
    assert datetime.fromisoformat(made.json["updated_at"]) < datetime.now(UTC) + HOUR
    assert "The clock is far ahead of the time when a server last ran here." in made.err
    confirmed = moved.run_fresh("clock", "confirm", env=clock.environment)
    assert (confirmed.code, "far ahead" in confirmed.err) == (0, False)
    shown = moved.run_fresh("article", "show", "ALONE", "--company", "ACME", env=clock.environment)
    assert "far ahead" not in shown.err
    moved.ok("clock", "confirm")
