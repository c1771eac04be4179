"""Starts this program again in a separate process, for work beside the server. The server has priority: the kernel
gives the process less processor time, and ends it first when memory runs out.

Users decide how large some work is, such as an import. A process for such work also has limits (`Limits`). The
server sets them right after the start of the process. They are not options of the command, because an option can
be forgotten. They are not set between fork and exec, because it is unsafe to run code there in a process with
threads.
"""

import asyncio
import logging
import os
import re
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.host import own_program

LOG = logging.getLogger("wmsd.serve")
NICE: Final = 5
"""How much lower the priority of the process is. The process gets a third of the server's share when both need the
processor. With a smaller share, an import would lock its company's file too long on a busy machine.
"""
FIRST_TO_END: Final = 1000
"""The highest value of oom_score_adj (proc_pid_oom_score_adj(5)). If memory runs out, the kernel ends a process
with this value first.
"""
GRACE_SECONDS: Final = 5
"""A process that uses up its processor time is first asked to end. After this many more seconds of processor time,
it is killed.
"""
LOOK_SECONDS: Final = 1.0
AT_ITS_LIMIT: Final = 0.97
"""A process that uses more than this share of its memory limit counts as out of memory. Near the limit, small
pieces of memory are still available, so the process could continue for minutes.
"""
OUT_OF_MEMORY: Final = (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
"""The signals that can end a process that has no memory left. The kernel kills the process, or a library aborts
it. Python then cannot report the error.
"""
SAYS_SO: Final = ("MemoryError", "memory allocation of", "Cannot allocate memory", "out of memory")


class Limits(NamedTuple):
    """The limits of a process. `data_bytes` is the memory that the process may write (RLIMIT_DATA). RLIMIT_AS is
    not used, because it also counts the files that SQLite has mapped. `cpu_seconds` is the processor time of all
    threads.
    """

    data_bytes: int
    cpu_seconds: int


async def start(command: Sequence[str], limits: Limits | None = None, **pipes: Any) -> asyncio.subprocess.Process:
    """Start a process with a lower priority than the server. `limits` are its limits, or None.

    `pipes` are passed to `create_subprocess_exec`. Raise OSError if the process cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, env=own_program.environment(), **pipes
    )
    try:
        for pid in _with_children(process.pid):
            _bound(pid, limits)
    except ProcessLookupError:
        pass  # the process has already ended
    except OSError as error:
        LOG.warning("the limits of process %d cannot be set: %s", process.pid, error)
    return process


def _with_children(pid: int) -> Iterator[int]:
    """Yield the ids of the process and its children. A packed program starts as one process and continues in a
    child process. If the child started before the limits of its parent were set, the child did not inherit them.
    """
    yield pid
    with suppress(OSError):
        yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())


def _bound(pid: int, limits: Limits | None) -> None:
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + NICE)
    with suppress(FileNotFoundError):  # a kernel without this setting
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(FIRST_TO_END), encoding="ascii")
    if limits is not None:
        resource.prlimit(pid, resource.RLIMIT_DATA, (limits.data_bytes, limits.data_bytes))
        resource.prlimit(pid, resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + GRACE_SECONDS))


async def ended(
    process: asyncio.subprocess.Process, limits: Limits, longest: float, charge: Callable[[float], None]
) -> int:
    """Wait for the end of the process, and return its exit code. Kill the process if it has used up its memory.
    Raise TimeoutError if it has not ended after `longest` seconds.

    `charge` is called about every second. Its parameter is the processor time in seconds that the process has used
    since the last call.
    """
    until, looks, charged = asyncio.get_running_loop().time() + longest, 0, 0.0
    while True:
        left = until - asyncio.get_running_loop().time()
        try:
            return await asyncio.wait_for(process.wait(), min(LOOK_SECONDS, max(left, 0)))
        except TimeoutError:
            if left <= LOOK_SECONDS:
                raise
        used = sum(map(_cpu_seconds, _with_children(process.pid)))
        charge(max(0.0, used - charged))
        charged = max(used, charged)
        taken = max(map(_data_bytes, _with_children(process.pid)))
        looks = looks + 1 if taken > limits.data_bytes * AT_ITS_LIMIT else 0
        if looks > 1:
            with suppress(ProcessLookupError):
                process.kill()


def _data_bytes(pid: int) -> int:
    """Return the memory of the process to which RLIMIT_DATA applies, in bytes. Return 0 if the process has
    ended.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmData:\s+([0-9]+) kB$", status, re.MULTILINE)
    return 0 if found is None else int(found[1]) * 1024


def _cpu_seconds(pid: int) -> float:
    """Return the processor seconds of all threads (proc(5)), or 0 if the process has ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    user, system = state.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def ran_out_of_memory(code: int, said: Sequence[str]) -> bool:
    """Return True if a process with the exit code `code` had too little memory. `said` are its last lines on
    standard error.
    """
    return -code in OUT_OF_MEMORY or any(words in line for line in said for words in SAYS_SO)


def ran_out_of_time(code: int) -> bool:
    return code == -signal.SIGXCPU
