"""Tests of a clock that is years off: status, health and doctor report it, because every integrator is refused
meanwhile.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.command import Home, first_day
from tests.support.executable import eventually
from tests.support.moved_clock import MovedClock
from wmsd.data_folder.clock_verdict import REMEDY

YEARS = timedelta(days=3650)
OFF = {
    "forward": (YEARS, "all API tokens that were valid then (1) are now refused as expired."),
    "back": (-timedelta(days=30), "wmsd last ran here at a later time: 20"),
}


@pytest.fixture
def installation(home: Home) -> Home:
    home = first_day(home)
    with home.serving() as server:
        assert server.get("/api/user")[0] == 200
    return home


def told(home: Home, command: str, clock: MovedClock | None = None) -> tuple[int, str]:
    done = home.run_fresh(command, env=None if clock is None else clock.environment)
    return done.code, " ".join(f"{done.out} {done.err}".split())


@pytest.mark.parametrize("off", OFF)
def test_without_a_server(installation: Home, tmp_path: Path, off: str) -> None:
    moved, sentence = OFF[off]
    clock = MovedClock.made(tmp_path / "clock")
    assert sentence not in told(installation, "status", clock)[1]
    clock.stand(moved)
    for command in ("status", "doctor"):
        code, said = told(installation, command, clock)
        assert (code, sentence in said, REMEDY in said) == (1, True, True), said
    clock.stand(timedelta())
    assert sentence not in told(installation, "status", clock)[1]


@pytest.mark.parametrize("off", OFF)
def test_beside_a_server_that_was_started_with_it(installation: Home, tmp_path: Path, off: str) -> None:
    """After a long stop, only tokens that have all expired show that the clock was set forward."""
    moved, _ = OFF[off]
    clock = MovedClock.made(tmp_path / "clock")
    clock.stand(moved)
    with installation.serving(env=clock.environment) as server:
        assert server.get("/api/health", token="", company=None)[1]["status"] == "degraded"
        for command in ("status", "doctor"):
            code, said = told(installation, command, clock)
            assert (code, "The clock of this machine says" in said, REMEDY in said) == (1, True, True), said
        clock.stand(timedelta())
        server.soon("/api/health", lambda _, body: body["status"] == "ok", token="", company=None)
        server.soon("/api/user", lambda status, _: status == 200)
        assert eventually(  # the metrics of the server are at most a second old
            lambda: "The clock of this machine says" not in told(installation, "status")[1], seconds=10
        )


def test_beside_a_server_whose_clock_is_set(installation: Home, tmp_path: Path) -> None:
    clock = MovedClock.made(tmp_path / "clock")
    with installation.serving(env=clock.environment) as server:
        clock.stand(YEARS)
        server.soon("/api/user", lambda status, _: status == 401)
        code, said = told(installation, "status")
        assert (code, "The clock of this machine says 203" in said, REMEDY in said) == (1, True, True), said


def test_who_confirms_a_clock_that_is_right_is_not_told_again(installation: Home, tmp_path: Path) -> None:
    clock = MovedClock.made(tmp_path / "clock")
    clock.stand(YEARS)
    assert told(installation, "status", clock)[0] == 1
    assert installation.run_fresh("clock", "confirm", env=clock.environment).code == 0
    assert "The clock of this machine says" not in told(installation, "status", clock)[1]
