"""Reports the state of the server to the service manager, such as systemd: sd_notify(3)."""

import logging
import math
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from wmsd.base.repeated_failures import RepeatedFailures

LOG = logging.getLogger("wmsd.serve")
SEND_SECONDS: Final = 0.2
"""How many seconds a message may wait for room in the socket. As long as the manager reads the socket, there is
always room.
"""
EXTEND_SECONDS: Final = 60.0
"""How many more seconds the server requests while a long start is running. It repeats the request after a third of
this time.
"""
MICROSECONDS: Final = 1_000_000
OWED: Final = ("READY", "MAINPID", "STATUS")
"""The fields that stay valid until their next change. If a message with such a field could not be sent, the next
message contains the field.
"""
LONGEST_STATUS: Final = 200
NOT_TOLD = "the state of the server cannot be reported to the service manager"


class ServiceManager:
    """The service manager, if one has started this process; otherwise the methods do nothing. The methods may be
    called on any thread, and never raise.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = _address(environment)
        self._told = RepeatedFailures(LOG, (OSError,), level=logging.WARNING)
        self._lock = threading.Lock()
        self._owed: dict[str, str] = {}
        """The fields that could not be sent. They are sent with the next message."""
        self.watchdog_seconds = _watchdog_seconds(environment) if self._address else None
        self._alive_at = -math.inf

    def ready(self, status: str) -> None:
        """Report that the server is ready, and that the manager must supervise this process. In the one-file
        program, the first process only waits.
        """
        self._tell(READY="1", MAINPID=str(os.getpid()), STATUS=_one_line(status))
        self._alive_at = -math.inf

    def stopping(self, status: str) -> None:
        self._tell(STOPPING="1", STATUS=_one_line(status))

    def starting_again(self, status: str) -> None:
        """Report a reload to the manager. Call this before the process executes the program again. Without the
        report, the manager would think that the service has ended.
        """
        self._tell(RELOADING="1", MONOTONIC_USEC=_now(), STATUS=_one_line(status))

    @contextmanager
    def reloading(self) -> Iterator[None]:
        self._tell(RELOADING="1", MONOTONIC_USEC=_now())
        try:
            yield
        finally:
            self._tell(READY="1")

    def alive(self) -> None:
        """Send a sign of life to the manager if one is due. Call this when the event loop is known to work.
        Frequent calls are cheap.
        """
        if self.watchdog_seconds is None and not self._owed:
            return
        now = time.monotonic()
        if now - self._alive_at >= (self.watchdog_seconds or 0.0) / 2:
            self._alive_at = now
            self._tell(WATCHDOG="1")

    @contextmanager
    def working(self, status: str) -> Iterator[None]:
        """While the context is open, repeatedly request more time for the start. Otherwise the manager would count
        the service as stuck and kill it. A killed server would have to begin the migration of its files again.
        """
        if self._address is None:
            yield
            return
        done = threading.Event()
        self._extend(status)
        thread = threading.Thread(target=self._keep_extending, args=(status, done), name="wmsd-start", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _keep_extending(self, status: str, done: threading.Event) -> None:
        while not done.wait(EXTEND_SECONDS / 3):
            self._extend(status)

    def _extend(self, status: str) -> None:
        extended = str(int(EXTEND_SECONDS * MICROSECONDS))
        self._tell(EXTEND_TIMEOUT_USEC=extended, WATCHDOG="1", STATUS=_one_line(status))

    def _tell(self, **fields: str) -> None:
        if self._address is None:
            return
        with self._lock:
            message = "\n".join(f"{name}={value}" for name, value in {**self._owed, **fields}.items())
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                    sender.settimeout(SEND_SECONDS)
                    sender.connect(self._address)
                    sender.send(message.encode())
            except OSError as error:
                self._owed |= {name: value for name, value in fields.items() if name in OWED}
                self._told.failed(NOT_TOLD, error)
            else:
                self._owed = {}
                self._told.over(NOT_TOLD)


def environment_of_next(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for executing the program again in this process. It makes the new program continue to
    send signs of life to the manager.
    """
    own = {"WATCHDOG_PID": str(os.getpid())} if _watchdog_seconds(environment) is not None else {}
    return {**environment, **own}


def _address(environment: Mapping[str, str]) -> str | None:
    """Return the address of the manager's socket: a path, or an abstract name. In the environment variable, an
    abstract name begins with @. The result has a NUL byte instead, as the system needs it.
    """
    address = environment.get("NOTIFY_SOCKET", "")
    if address.startswith("@"):
        return "\0" + address[1:]
    return address if address.startswith("/") else None


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """Return how many seconds the manager waits for a sign of life, or None if the manager expects none from this
    process.

    `WATCHDOG_PID` is the process that the manager has started. In the one-file program, this is the parent of the
    process that serves.
    """
    if environment.get("WATCHDOG_PID", str(os.getpid())) not in (str(os.getpid()), str(os.getppid())):
        return None
    text = environment.get("WATCHDOG_USEC", "")
    return int(text) / MICROSECONDS if text.isascii() and text.isdigit() and int(text) else None


def _one_line(sentence: str) -> str:
    return " ".join(sentence.split())[:LONGEST_STATUS]


def _now() -> str:
    return str(time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000)
