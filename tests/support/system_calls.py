"""The system calls of a process in the order in which they happened: `strace`."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.programs import program

SYNCS: Final = ("fsync", "fdatasync")
WRITES: Final = ("pwrite64", "write", "ftruncate", "fchmod", "chmod", "fchmodat")
MOVES: Final = ("rename", "renameat", "renameat2")
REMOVALS: Final = ("unlink", "unlinkat")
SENDS: Final = ("write", "writev", "sendto", "sendmsg")
LINE: Final = re.compile(r"(?P<thread>\d+) +(?:<\.\.\. )?(?P<name>\w+)(?P<resumed> resumed>)?(?P<rest>.*)")


class SystemCall(NamedTuple):
    """A system call. `text` has its arguments and its result, with the paths of files next to their numbers."""

    name: str
    text: str


def traced(trace: Path, *names: Sequence[str]) -> list[str]:
    """Return the words to put before a command so that strace writes these system calls to the file `trace`.

    This includes the calls of all threads. The command runs in the process that the caller starts, and strace in
    another process.
    """
    wanted = ",".join(sorted({each for some in names for each in some}))
    options = ["-D", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "64", "-e", f"trace={wanted}", "-o", str(trace)]
    return [program("strace"), *options]


def calls(trace: Path) -> Iterator[SystemCall]:
    """Yield a sync when it ends, and any other call when it starts.

    Otherwise the order would not show that a sync ended before another call.
    """
    begun: dict[str, str] = {}
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        found = LINE.fullmatch(line)
        if found is None:
            continue
        thread, name, rest = found["thread"], found["name"], found["rest"]
        if found["resumed"]:
            if name in SYNCS:
                yield SystemCall(name, begun.pop(thread) + rest)
        elif name in SYNCS and rest.endswith("<unfinished ...>"):
            begun[thread] = rest
        else:
            yield SystemCall(name, rest)
