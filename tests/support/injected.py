"""System calls that fail as on a failing disk, or that kill their process. strace injects errors and signals."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.programs import program

SYNC = "fsync,fdatasync"
LONGEST = 10.0
"""The seconds in which strace must release its processes after a SIGTERM."""


def injecting(inject: str, path: Path | None = None) -> list[str]:
    """Return the words to put before a command so that some of its system calls fail, while all others run at full
    speed.

    `path` limits the failures to calls about this file. Signals cannot be injected in this way: strace 6.1 forgets
    all but the first.
    """
    call = inject.partition(":")[0]
    only = [] if path is None else ["-P", str(path)]
    options = ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={inject}"]
    return [program("strace"), *options, *only]


@contextmanager
def failing(
    pid: int, calls: str, error: str = "EIO", when: str = "1+", path: Path | None = None
) -> Iterator[None]:
    """Make system calls of a process fail inside the context.

    `calls` are their names, with commas. `when` says which of them fail, in strace's form: "1+" means all. strace
    counts the calls of each thread. `path` limits the failures to calls about this file.
    """
    with injected(pid, f"inject={calls}:error={error}:when={when}", calls, path):
        yield


@contextmanager
def killed_at(pid: int, call: str, number: int) -> Iterator[None]:
    """Kill the process by SIGKILL when one of its threads starts the system call for the `number`th time."""
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
    """End strace, so that its processes continue.

    On SIGTERM strace releases the processes. Sometimes strace waits for ever, perhaps for a dying process. When
    strace itself is killed, the operating system releases the processes.
    """
    strace.terminate()
    try:
        strace.wait(LONGEST)
    except subprocess.TimeoutExpired:
        strace.kill()
