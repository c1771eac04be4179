"""A separate disk that can really be full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk_at(place: Path, megabytes: int = 100) -> Iterator[Path]:
    """Mount an empty disk of so many MiB.

    Only root can do this. Without root rights the test is skipped, or fails in continuous integration.
    """
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
    """Fill the disk with a foreign file, except for `leave` bytes.

    Other programs may fill the disk at the same time.
    """
    file = disk / "other"
    with file.open("ab") as opened:
        while (more := _free_bytes(disk) - leave) > 0:
            with suppress(OSError):  # another program was quicker
                os.posix_fallocate(opened.fileno(), 0, file.stat().st_size + more)
    return file


def _free_bytes(disk: Path) -> int:
    usage = os.statvfs(disk)
    return usage.f_bavail * usage.f_frsize
