"""Tests of a real server under a simulated service manager: what the manager is told, and when."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import Home, first_day
from tests.support.faults.trial import free_port
from tests.support.forked import LONGEST
from tests.support.service_manager import Listener, Message, manager_at

STUCK_SERVE = Path(__file__).parents[2] / "support" / "stuck_serve.py"


@pytest.fixture
def manager(home: Home) -> Iterator[Listener]:
    with manager_at(home.folder / "notify") as opened:
        yield opened


def is_ready(message: Message) -> bool:
    return "READY" in message


def test_what_is_told_from_the_start_to_the_end(home: Home, manager: Listener) -> None:
    watched = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "1000000"}
    with home.serving(env=watched) as server:
        ready = manager.until(is_ready, LONGEST)
        assert ready == {"READY": "1", "MAINPID": str(server.process.pid), "STATUS": f"Serving {server.address}"}
        assert any("EXTEND_TIMEOUT_USEC" in message for message in manager.messages)
        for _ in range(3):
            manager.until(lambda message: message == {"WATCHDOG": "1"}, LONGEST)
        server.process.send_signal(signal.SIGHUP)
        manager.until(lambda message: message.get("RELOADING") == "1", LONGEST)
        manager.until(lambda message: message == {"READY": "1"}, LONGEST)
        assert server.get("/api/health", company=None)[0] in (200, 401)
        server.process.terminate()
        stopping = manager.until(lambda message: "STOPPING" in message, LONGEST)
        assert stopping["STATUS"] == "Stopping: running requests finish first."
        assert server.process.wait(LONGEST) == 0


def test_a_server_that_is_stuck_gives_no_sign_of_life_until_it_serves_again(home: Home, manager: Listener) -> None:
    first_day(home)
    command = [sys.executable, "-P", str(STUCK_SERVE), "serve", "--listen", f"127.0.0.1:{free_port()}"]
    watched = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"}
    with (home.folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=home.folder, env=home.clean(watched), stdout=subprocess.DEVNULL, stderr=log
        )
    with process:
        try:
            manager.until(is_ready, LONGEST)
            manager.until(lambda message: message == {"WATCHDOG": "1"}, LONGEST)
            process.send_signal(signal.SIGUSR1)
            manager.messages.clear()
            manager.until(is_ready, LONGEST)
            before = [message for message in manager.messages if message == {"WATCHDOG": "1"}]
            assert len(before) <= 3, "the loop was stuck for ten looks"
            manager.until(lambda message: message == {"WATCHDOG": "1"}, LONGEST)
        finally:
            process.kill()


def test_a_manager_that_is_gone_is_no_reason_to_end(home: Home) -> None:
    with home.serving(env={"NOTIFY_SOCKET": str(home.folder / "nobody"), "WATCHDOG_USEC": "1000000"}) as server:
        assert server.get("/api/articles")[0] == 401
        assert "the state of the server cannot be reported to the service manager" in server.log
        assert server.stop() == 0
