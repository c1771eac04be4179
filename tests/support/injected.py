"""System calls of a running process that fail, as they do on a failing disk: strace puts the errors in."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.programs import program

SYNC = "fsync,fdatasync"


@contextmanager
def failing(pid: int, calls: str, error: str = "EIO", when: str = "1+") -> Iterator[None]:
    """`when`: which of them, as strace counts them in each thread."""
    inject = f"inject={calls}:error={error}:when={when}"
    command = [program("strace"), "-f", "-p", str(pid), "-e", f"trace={calls}", "-e", inject, "-o", "/dev/null"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
        try:
            assert strace.stderr is not None
            line = strace.stderr.readline()
            assert "attached" in line, line
            yield
        finally:
            strace.terminate()
            strace.wait()
