"""What a process asks of the system, in the order in which it happened: `strace`."""

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
    """`text` is its arguments and what came of it, with the paths of the files beside their numbers."""

    name: str
    text: str


def traced(trace: Path, *names: Sequence[str]) -> list[str]:
    """What stands before a command to have these calls of its written down, once for each thread.

    The process is the command's own: the tracer is beside it.
    """
    wanted = ",".join(sorted({each for some in names for each in some}))
    options = ["-D", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "64", "-e", f"trace={wanted}", "-o", str(trace)]
    return [program("strace"), *options]


def calls(trace: Path) -> Iterator[SystemCall]:
    """A sync when it is over, anything else when it begins: what the one is to come before the other."""
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
