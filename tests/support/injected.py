"""System calls that fail, as they do on a failing disk, or at which a process is killed: strace puts that in."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.programs import program

SYNC = "fsync,fdatasync"
LONGEST = 10.0
"""Seconds that strace has to let its processes go."""


def injecting(inject: str, path: Path | None = None) -> list[str]:
    """What stands before a command to have errors put in calls of its, while all others run at full speed. `path`:
    in those about this file only. Signals are not for it: strace 6.1 forgets all but the first in this way.
    """
    call = inject.partition(":")[0]
    only = [] if path is None else ["-P", str(path)]
    options = ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={inject}"]
    return [program("strace"), *options, *only]


@contextmanager
def failing(
    pid: int, calls: str, error: str = "EIO", when: str = "1+", path: Path | None = None
) -> Iterator[None]:
    """`when`: which of them, as strace counts them in each thread. `path`: those that are about this file only."""
    with injected(pid, f"inject={calls}:error={error}:when={when}", calls, path):
        yield


@contextmanager
def killed_at(pid: int, call: str, number: int) -> Iterator[None]:
    """The process ends by SIGKILL at the beginning of this call, the so manieth of one of its threads."""
    with injected(pid, f"inject={call}:signal=SIGKILL:when={number}", call):
        yield


@contextmanager
def injected(pid: int, inject: str, calls: str, path: Path | None = None) -> Iterator[None]:
    only = [] if path is None else ["-P", str(path)]
    command = [program("strace"), "-f", "-p", str(pid), "-e", f"trace={calls}", "-e", inject, *only]
    with subprocess.Popen([*command, "-o", "/dev/null"], stderr=subprocess.PIPE, text=True) as strace:
        try:
            assert strace.stderr is not None
            for line in strace.stderr:
                if "attached" in line:
                    break
                assert "Requested path" in line, line
            yield
        finally:
            _let_go(strace)


def _let_go(strace: "subprocess.Popen[str]") -> None:
    """At SIGTERM strace lets its processes go on. It has been seen to wait for ever, perhaps for a dying one: when
    it is killed itself, the system lets them go.
    """
    strace.terminate()
    try:
        strace.wait(LONGEST)
    except subprocess.TimeoutExpired:
        strace.kill()
