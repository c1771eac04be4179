"""The commands and servers that are measured, as separate processes.

Only processes that were started here are ended.
"""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).resolve().parents[2]
WMSD: Final = ROOT / ".venv" / "bin" / "wmsd"
FORKED: Final = os.environ.get("BENCH_FORKED", "")
"""The script that replaces `wmsd` in tests of the benchmarks; otherwise "".

The script forks each command from a process that has already imported wmsd. Otherwise, commands and servers at the
tiny size would spend most of their time on Python's start.
"""
HOST: Final = "127.0.0.1"
SCHEDULER_CLOCK: Final = 2
"""The type of a process's clock in a clock id: CPUCLOCK_SCHED of the kernel."""
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 20.0
UNLIMITED: Final = {
    f"WMSD_LIMITS_{what}_PER_MINUTE": "1000000000" for what in ("DATA", "SANDBOX", "GRAPHQL", "AUTH", "REFUSED")
}
QUIET: Final = {**UNLIMITED, "WMSD_LOG_LEVEL": "warning"}


class Failed(Exception):
    """A measurement that cannot be made. The message says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens."""

    pid: int
    port: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> bytes:
        connection = self.connect()
        try:
            return get(connection, path, headers or {})
        finally:
            connection.close()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(HOST, self.port, timeout=60)

    def resident_mb(self) -> float:
        """Return the resident memory (VmRSS) in units of 1024 * 1024 bytes."""
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise Failed(f"process {self.pid} has no VmRSS; this needs Linux.")

    def processor_seconds(self) -> float:
        """Return the processor time of all threads, including threads that have ended, in seconds.

        The scheduler's clock counts nanoseconds (clock_getcpuclockid(3)); a tick of /proc/PID/stat is 10 ms.
        """
        return time.clock_gettime_ns((~self.pid << 3) | SCHEDULER_CLOCK) / 1e9


def get(connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str]) -> bytes:
    """Return the body of an answer with status 200. Raise Failed for any other status."""
    connection.request("GET", path, headers=dict(headers))
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise Failed(f"GET {path} was answered {answer.status}: {body[:300]!r}")
    return body


def progress(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="wmsd-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without the user's own settings of wmsd. Scheduled backups are off, because they would
    disturb the measurements.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WMSD_")}
    # this checkout, even if its .venv belongs to another one
    path = os.pathsep.join([str(ROOT / "scripts"), str(ROOT)])
    return {**kept, "PYTHONPATH": path, "WMSD_BACKUP_EVERY": "never", **(extra or {})}


def run(
    command: Sequence[str | Path],
    cwd: Path,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    name: str = "",
) -> str:
    """Return the standard output of a command. Raise Failed, with the name of the command, if it fails."""
    kept: tuple[int, ...] = ()
    if FORKED and command[0] == WMSD:
        command, kept = [sys.executable, "-I", "-S", FORKED, *command[1:]], (int(os.environ["FORKS"]),)
    done = subprocess.run(
        command, cwd=cwd, env=env or environment(), input=stdin, text=True, capture_output=True, pass_fds=kept
    )
    if done.returncode:
        raise Failed(f"{name or ' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def server(command: Sequence[str | Path], port: int, cwd: Path, env: Mapping[str, str]) -> Iterator[Server]:
    """Start a server, yield it when it listens, and stop it at the end."""
    log = cwd / f"server-{port}.log"
    with log.open("wb") as output:
        process, pid = _started(command, cwd, env, output)
    try:
        _await_listening(process, port, log)
        yield Server(pid, port)
    finally:
        stop(process, pid)


def _started(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], output: IO[bytes]
) -> "tuple[subprocess.Popen[bytes], int]":
    """Start a server. Return the process to wait for, and the number of the server's process.

    They differ only in tests of the benchmarks, which fork the server (`FORKED`).
    """
    if not FORKED or command[0] != WMSD:
        process = subprocess.Popen(command, cwd=cwd, env=dict(env), stdout=output, stderr=output)
        return process, process.pid
    readable, writable = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", FORKED, *command[1:]],
        cwd=cwd,
        env={**env, "FORK_TELLS": str(writable)},
        stdout=output,
        stderr=output,
        pass_fds=(int(os.environ["FORKS"]), writable),
    )
    os.close(writable)
    with os.fdopen(readable) as told:
        return process, int(told.readline())


def stop(process: "subprocess.Popen[bytes]", pid: int | None = None) -> None:
    """End a process, and wait until `process` ends.

    By default, `process` itself is ended. If `process` only waits for a server (`FORKED`), pass the number of the
    server's process as `pid`. A process that does not end within STOP_SECONDS is killed.
    """
    pid = pid or process.pid
    if process.poll() is None:
        os.kill(pid, signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.kill(pid, signal.SIGKILL)
            process.wait()


def _await_listening(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise Failed(f"the server does not listen:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


def wmsd_server(data: Path, settings: Mapping[str, str] = QUIET) -> AbstractContextManager[Server]:
    port = free_port()
    command: list[str | Path] = [WMSD, "serve", "--data", data, "--listen", f"{HOST}:{port}"]
    return server(command, port, data.parent, environment(settings))
