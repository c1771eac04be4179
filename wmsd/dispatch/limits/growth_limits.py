"""Refuses writes when a company's quota, its share of the disk or the disk is nearly used up.

A write adds, moves what is there already, or frees. Additions are refused first, and moves later. So there is
always room to finish open documents, to delete, and to shut out whoever fills the disk: writes to `platform.db`
and deletions may use the reserve (`data_folder/folder.py`), a file that is deleted then.
"""

import logging
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.machine.disk import Disk, disk_of
from wmsd.base.problems import Problem, unavailable
from wmsd.base.repeated_failures import FLAPPING_SECONDS, RepeatedFailures
from wmsd.contract.context import Company
from wmsd.contract.operation import Operation
from wmsd.data_folder.folder import RESERVE_BYTES, DataFolder
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.limits import company_limits
from wmsd.dispatch.limits.disk_shares import Bound, BoundKind, Held

LOG = logging.getLogger("wmsd.storage")
Growth = Literal["adds", "moves", "frees"]
MOVING_FIELDS: Final = frozenset({"status", "packaging", "packaging_returned", "occurred_at", "active"})
"""A body with only these fields moves a document, or switches something on or off."""


class Room(NamedTuple):
    """The part of its bound up to which a company may write, and the bytes of the disk that must be free."""

    part: float
    least_free: Callable[[Disk], int]


ROOM: Final[dict[Growth, Room]] = {
    "adds": Room(1.0, lambda disk: disk.refused_below),
    "moves": Room(1.25, lambda _: RESERVE_BYTES),
}
MEGABYTE: Final = 1_000_000
REACHED: Final[dict[BoundKind, str]] = {
    "quota": "The quota of {} MB is reached: nothing new can be stored. Documents can still be moved for a while, "
    "and records deleted. Ask the site admin for more.",
    "share": "Less than a fifth of the server's disk is free, and this company's share of {} MB is used: nothing "
    "new can be stored. Documents can still be moved for a while, and records deleted. Ask the site admin for a "
    "larger disk, or for a quota of its own.",
}
DISK_FULL: Final = (
    "The server's disk is nearly full: nothing new can be stored. What is there can be read and deleted. "
    "Tell the site admin."
)
DISK_GONE: Final = "The server cannot look at its disk now; nothing was changed. Tell the site admin."


def growth_of(operation: Operation, inputs: dict[str, Any]) -> Growth:
    """How the operation changes the bytes in use. Without a body, as in a redelivery, it adds next to nothing."""
    if operation.answer == "nothing":
        return "frees"
    if operation.body is None:
        return "moves"
    given = inputs["body"].model_fields_set
    return "moves" if given and given <= MOVING_FIELDS else "adds"


class Storage:
    def __init__(self, folder: DataFolder, quota_megabytes: int, clock: Clock) -> None:
        """`quota_megabytes` is for companies without a quota of their own; 0 means no quota."""
        self._folder = folder
        self._quota_megabytes = quota_megabytes
        self.held = Held()
        """Of all companies, as a job has counted last."""
        self._disk = f"the disk of {folder.path}"
        self._told = RepeatedFailures(
            LOG, monotonic=clock.monotonic, level=logging.WARNING, settled_seconds=FLAPPING_SECONDS
        )

    def quota(self, company: Company) -> int | None:
        """The company's quota in bytes; None when it has none."""
        megabytes = company_limits.quota_megabytes(company, self._quota_megabytes).value
        return megabytes * MEGABYTE if megabytes else None

    def quota_of(self, company: Company) -> Bound | None:
        quota = self.quota(company)
        return None if quota is None else Bound("quota", quota)

    def left(self, tx: Transaction, company: Company, beside: int) -> int | None:
        """The bytes that the company may add, where it keeps so many `beside` its file; None where nothing bounds
        it. Raises Problem: 507 when nothing is left, 503 for the disk.
        """
        bound = self._bound(company, self._disk_now())
        if bound is None:
            return None
        left = bound.bytes - tx.bytes_used() - beside
        if left <= 0:
            raise _reached(bound)
        return left

    def admit(self, tx: Transaction, company: Company, growth: Growth) -> None:
        """Called before each write to the company's file. Raises Problem: 507 for its quota or its share of the
        disk, 503 for the disk.
        """
        if growth == "frees":
            return
        bound = self._bound(company, self.need_room(growth))
        if bound is not None and tx.bytes_used() >= bound.bytes * ROOM[growth].part:
            problem = _reached(bound)
            self._told.failed(_company(company), problem)
            raise problem
        if growth == "adds":  # only an addition proves that there is room for everything
            self._told.over(_company(company))
            self._told.over(self._disk)

    def _bound(self, company: Company, disk: Disk) -> Bound | None:
        """What the company may hold now, the least of its quota and its share."""
        share = self.held.share_of(company, disk) if disk.is_shared else None
        bounds = [each for each in (self.quota_of(company), share) if each is not None]
        return min(bounds, key=lambda each: each.bytes, default=None)

    def need_room(self, growth: Growth = "adds") -> Disk:
        """Raises Problem (503) when the disk is too full for what grows so."""
        disk = self._disk_now()
        if disk.free < ROOM[growth].least_free(disk):
            problem = unavailable(DISK_FULL, 30)
            self._told.failed(self._disk, problem)
            raise problem
        return disk

    def _disk_now(self) -> Disk:
        """Raises Problem (503)."""
        try:
            return disk_of(self._folder.path)
        except OSError as error:
            self._told.failed(self._disk, error)
            raise unavailable(DISK_GONE, 30) from None


def _reached(bound: Bound) -> Problem:
    return Problem("STORAGE_FULL", REACHED[bound.kind].format(bound.bytes // MEGABYTE))


def _company(company: Company) -> str:
    return f"company {company.code}"
