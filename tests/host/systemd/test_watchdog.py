"""Tests of a server whose event loop is stuck: it restarts automatically, as the same process."""

import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.support.command import Home, first_day
from tests.support.faults.trial import free_port
from tests.support.forked import LONGEST, ROOT

STUCK_SERVE = ROOT / "tests" / "support" / "stuck_serve.py"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def server(home: Home, port: int) -> Iterator["subprocess.Popen[str]"]:
    first_day(home)
    command = [sys.executable, "-P", str(STUCK_SERVE), "serve", "--listen", f"127.0.0.1:{port}"]
    with (home.folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=home.folder, env=home.clean(None), stdout=subprocess.DEVNULL, stderr=log, text=True
        )
    with process:
        yield process
        process.kill()


def is_served(port: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.1)
    return False


def told(home: Home, words: str) -> int:
    return (home.folder / "serve.log").read_text(encoding="utf-8").count(words)


def is_told(home: Home, words: str, times: int) -> None:
    until = time.monotonic() + LONGEST
    while told(home, words) < times:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_server_that_is_stuck_starts_again(home: Home, server: "subprocess.Popen[str]", port: int) -> None:
    is_told(home, "info    serving", 1)  # it listens before the watchdog checks
    server.send_signal(signal.SIGUSR1)
    is_told(home, "info    serving", 2)
    assert is_served(port, LONGEST)
    assert told(home, "no request was answered for 5 s: wmsd restarts") == 1
    server.terminate()
    assert server.wait(LONGEST) == 0
    assert told(home, "info    stopped") == 1


def test_a_server_that_was_suspended_goes_on(home: Home, server: "subprocess.Popen[str]", port: int) -> None:
    assert is_served(port, LONGEST)
    server.send_signal(signal.SIGSTOP)
    time.sleep(7)
    server.send_signal(signal.SIGCONT)
    assert is_served(port, LONGEST)
    time.sleep(1)
    assert told(home, "wmsd restarts") == 0
