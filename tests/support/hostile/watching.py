"""The resources that a server uses of its machine during an attack, measured from outside."""

import asyncio
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EVERY_SECONDS: Final = 0.5
RESIDENT: Final = re.compile(rb"VmRSS:\s+(\d+) kB")


@dataclass
class Taken:
    """The highest value seen of each resource."""

    resident_bytes: int = 0
    files: int = 0
    threads: int = 0
    disk_bytes: int = 0
    log_bytes: int = 0


async def watch(process: int, data: Path, log: Path, taken: Taken) -> None:
    """Measure until the task is cancelled."""
    while True:
        await asyncio.gather(
            asyncio.to_thread(_look, Path(f"/proc/{process}"), data, log, taken), asyncio.sleep(EVERY_SECONDS)
        )


def _look(process: Path, data: Path, log: Path, taken: Taken) -> None:
    """Measure once.

    Threads, children, files and finally the process itself may disappear during the measurement.
    """
    taken.resident_bytes = max(taken.resident_bytes, _resident(process))
    with suppress(OSError):
        taken.files = max(taken.files, len([*(process / "fd").iterdir()]))
        taken.threads = max(taken.threads, len([*(process / "task").iterdir()]))
    taken.disk_bytes = max(taken.disk_bytes, bytes_in(data))
    taken.log_bytes = max(taken.log_bytes, log.stat().st_size)


def _resident(process: Path, parent: bytes = b"") -> int:
    """Return the resident bytes of the process and of everything that it has started, or 0 if it has ended.

    A child with the command line of its `parent` has only just been forked and shares its memory, so it does not
    count.
    """
    total, tasks, command = 0, list[Path](), b""
    with suppress(OSError):
        command = (process / "cmdline").read_bytes()
        if command == parent:
            return 0
        found = RESIDENT.search((process / "status").read_bytes())
        total = int(found[1]) * 1024 if found else 0
        tasks = [*(process / "task").iterdir()]
    for task in tasks:
        with suppress(OSError):
            for child in (task / "children").read_text().split():
                total += _resident(process.parent / child, command)
    return total


def bytes_in(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # the process or thread has ended meanwhile
                found += Path(place, name).lstat().st_size
    return found
