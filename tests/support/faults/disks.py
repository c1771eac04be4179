"""Faults in which disks are full or fail."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final

from tests.support.faults.fault import EVERYBODY, NOBODY, Fault, Running
from tests.support.faults.scene import STRUCK
from tests.support.injected import SYNC, failing
from tests.support.small_disk import fill

CALLS: Final = {
    "writes fail": ("pwrite64", "EIO"),
    "writes find no free space": ("pwrite64", "ENOSPC"),
    "syncs fail": (SYNC, "EIO"),
    "truncations fail": ("ftruncate", "EIO"),
    "opens fail": ("openat", "EIO"),
    "reads fail": ("pread64", "EIO"),
}
FILES: Final = {
    "a company's log": "companies/1.db-wal",
    "a company's file": "companies/1.db",
    "the platform's log": "platform.db-wal",
    "the platform's file": "platform.db",
}
MUST_BE_TOLD: Final = {
    ("a company's log", "writes fail"),
    ("a company's log", "writes find no free space"),
    ("a company's log", "syncs fail"),
}
"""The files and failures that orders meet immediately, so that wmsd must report them. Other failures happen only
when SQLite writes its log into the file, or when a file is opened.
"""


def _failing(name: str, calls: str, error: str, running: Running) -> AbstractContextManager[None]:
    return failing(running.pid, calls, error, path=running.scene.home.data / name)


def _disk(what: str, name: str, how: str, calls: str, error: str) -> Fault:
    return Fault(
        f"{how}: {what}",
        partial(_failing, name, calls, error),
        _struck(name, how),
        told="company 1 fail" if (what, how) in MUST_BE_TOLD else "",
        seconds=4.0,
    )


def _struck(name: str, how: str) -> tuple[int, ...]:
    """Return the indexes of the companies whose requests the fault may affect.

    If platform.db cannot be read, wmsd cannot check any token, so every company is affected.
    """
    if name.startswith("companies"):
        return (STRUCK,)
    return EVERYBODY if how == "reads fail" else NOBODY


@contextmanager
def full(leave: int, running: Running) -> Iterator[None]:
    other = fill(running.scene.home.data, leave)
    try:
        yield
    finally:
        other.unlink()


FULL: Final = tuple(
    Fault(
        f"the disk has {leave // 1000} kB left",
        partial(full, leave),
        EVERYBODY,
        told="disk",
        is_on_small_disk=True,
    )
    for leave in (0, 10_000, 300_000, 20_000_000)
)
FAILING: Final = tuple(
    _disk(what, name, how, calls, error) for what, name in FILES.items() for how, (calls, error) in CALLS.items()
)
