"""A disk of its own that can really be full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk_at(place: Path, megabytes: int = 100) -> Iterator[Path]:
    """Of so many MiB, and nothing else on it. Only root can have one; in continuous integration it must be."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount).returncode:
        sentence = "a small disk can only be had by root"
        if os.environ.get("CI"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Somebody else's file. What others write meanwhile finds the rest."""
    file = disk / "other"
    with file.open("ab") as opened:
        while (more := _free_bytes(disk) - leave) > 0:
            with suppress(OSError):  # somebody was quicker
                os.posix_fallocate(opened.fileno(), 0, file.stat().st_size + more)
    return file


def _free_bytes(disk: Path) -> int:
    usage = os.statvfs(disk)
    return usage.f_bavail * usage.f_frsize
