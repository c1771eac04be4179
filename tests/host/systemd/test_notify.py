"""Tests of what a service manager is told, over a real socket."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service_manager import Listener, manager_at
from wmsd.host.systemd import notify
from wmsd.host.systemd.notify import ServiceManager, environment_of_next

SECONDS = 5.0


@pytest.fixture(params=["path", "abstract"])
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listener]:
    with manager_at(tmp_path / "notify" if request.param == "path" else f"@wmsd-test-{os.getpid()}") as opened:
        yield opened


@pytest.fixture
def path_listener(tmp_path: Path) -> Iterator[Listener]:
    with manager_at(tmp_path / "notify") as opened:
        yield opened


def told(listener: Listener) -> dict[str, str]:
    return listener.until(lambda message: True, SECONDS)


def test_it_tells_when_it_serves_and_which_process_does(listener: Listener) -> None:
    ServiceManager({"NOTIFY_SOCKET": listener.address}).ready("Serving\nhttp://x")
    assert told(listener) == {"READY": "1", "MAINPID": str(os.getpid()), "STATUS": "Serving http://x"}


def test_it_tells_how_it_ends_and_that_it_starts_again(listener: Listener) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": listener.address})
    manager.stopping("Stopping.")
    assert told(listener) == {"STOPPING": "1", "STATUS": "Stopping."}
    manager.starting_again("Again.")
    again = told(listener)
    assert int(again.pop("MONOTONIC_USEC")) == pytest.approx(time.monotonic() * 1e6, abs=SECONDS * 1e6)
    assert again == {"RELOADING": "1", "STATUS": "Again."}


def test_reloading_ends_even_when_it_fails(path_listener: Listener) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": path_listener.address})
    with pytest.raises(ValueError, match="no"), manager.reloading():
        raise ValueError("no")
    assert told(path_listener)["RELOADING"] == "1"
    assert told(path_listener) == {"READY": "1"}


@pytest.mark.parametrize("address", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "relative"}])
def test_without_a_manager_nothing_is_told(address: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    manager = ServiceManager({**address, "WATCHDOG_USEC": "1000000"})
    manager.ready("Serving")
    manager.alive()
    with manager.working("Working"), manager.reloading():
        assert [thread.name for thread in threading.enumerate() if thread.name == "wmsd-start"] == []
    assert caplog.text == ""
    assert manager.watchdog_seconds is None


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"),
    [
        pytest.param("60000000", str(os.getpid()), 60.0, id="its own"),
        pytest.param("500000", str(os.getppid()), 0.5, id="of the one file, which serves in a child"),
        ("60000000", None, 60.0),
        ("60000000", "1000000", None),
        ("60000000", "", None),
        ("0", None, None),
        ("-5", None, None),
        ("soon", None, None),
        ("²", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_how_long_the_watchdog_waits(usec: str | None, pid: str | None, seconds: float | None) -> None:
    given = {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": usec, "WATCHDOG_PID": pid}
    environment = {name: value for name, value in given.items() if value is not None}
    assert ServiceManager(environment).watchdog_seconds == seconds


def test_the_program_that_is_executed_next_is_watched_in_this_process() -> None:
    watched = {"A": "b", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getppid())}
    assert environment_of_next(watched) == {**watched, "WATCHDOG_PID": str(os.getpid())}
    assert environment_of_next({"A": "b"}) == {"A": "b"}


def test_signs_of_life_come_at_half_of_the_time(path_listener: Listener) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": path_listener.address, "WATCHDOG_USEC": "600000"})
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        manager.alive()
        time.sleep(0.01)
    manager.stopping("The end.")
    path_listener.until(lambda message: "STOPPING" in message, SECONDS)
    signs = [message for message in path_listener.messages if message == {"WATCHDOG": "1"}]
    assert 2 <= len(signs) <= 4


def test_work_before_the_start_is_waited_for(path_listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "EXTEND_SECONDS", 0.15)
    manager = ServiceManager({"NOTIFY_SOCKET": path_listener.address})
    extended = {"EXTEND_TIMEOUT_USEC": "150000", "WATCHDOG": "1", "STATUS": "Migrating."}
    with manager.working("Migrating."):
        assert [told(path_listener) for _ in range(3)] == [extended] * 3
    manager.stopping("Done.")
    path_listener.until(lambda message: message == {"STOPPING": "1", "STATUS": "Done."}, SECONDS)
    assert [thread.name for thread in threading.enumerate() if thread.name == "wmsd-start"] == []


def test_what_could_not_be_told_is_told_with_the_next_sign_of_life(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "late"), "WATCHDOG_USEC": "60000000"})
    with manager.reloading():
        pass
    manager.ready("Serving")
    assert caplog.text.count("the state of the server cannot be reported to the service manager") == 1
    with manager_at(tmp_path / "late") as late:
        manager.alive()
        owed = {"READY": "1", "MAINPID": str(os.getpid()), "STATUS": "Serving"}
        assert told(late) == {**owed, "WATCHDOG": "1"}
        manager.stopping("Later.")
        assert told(late) == {"STOPPING": "1", "STATUS": "Later."}


def test_a_manager_that_does_not_read_holds_nobody_up(path_listener: Listener) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": path_listener.address})
    most_waiting = int(Path("/proc/sys/net/unix/max_dgram_qlen").read_text())

    def tell() -> None:
        for number in range(most_waiting + 10):
            manager.stopping(f"No {number}.")

    ends = threading.Thread(target=tell, daemon=True)
    ends.start()
    ends.join(120.0)
    assert not ends.is_alive()
