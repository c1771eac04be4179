"""What a server takes from its machine while it is attacked, looked at from outside."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EVERY_SECONDS: Final = 0.5
RESIDENT: Final = re.compile(rb"VmRSS:\s+(\d+) kB")


@dataclass
class Taken:
    """The most of each that was seen."""

    resident_bytes: int = 0
    files: int = 0
    threads: int = 0
    disk_bytes: int = 0
    log_bytes: int = 0


async def watch(process: int, data: Path, log: Path, taken: Taken) -> None:
    """Until it is cancelled, or the process ends."""
    is_there = True
    while is_there:
        is_there, _ = await asyncio.gather(
            asyncio.to_thread(_look, Path(f"/proc/{process}"), data, log, taken), asyncio.sleep(EVERY_SECONDS)
        )


def _look(process: Path, data: Path, log: Path, taken: Taken) -> bool:
    """Whether the process was there."""
    try:
        taken.resident_bytes = max(taken.resident_bytes, _resident(process))
        taken.files = max(taken.files, sum(1 for _ in (process / "fd").iterdir()))
        taken.threads = max(taken.threads, sum(1 for _ in (process / "task").iterdir()))
    except OSError:
        return False
    taken.disk_bytes = max(taken.disk_bytes, bytes_in(data))
    taken.log_bytes = max(taken.log_bytes, log.stat().st_size)
    return True


def _resident(process: Path) -> int:
    """Of the process and of all that it has started."""
    found = RESIDENT.search((process / "status").read_bytes())
    own = int(found[1]) * 1024 if found else 0
    for task in (process / "task").iterdir():
        for child in (task / "children").read_text().split():
            with suppress(OSError):  # it has ended meanwhile
                own += _resident(process.parent / child)
    return own


def bytes_in(folder: Path) -> int:
    found = 0
    for file in folder.rglob("*"):
        try:
            found += file.stat().st_size if file.is_file() else 0
        except OSError:  # gone meanwhile
            continue
    return found
