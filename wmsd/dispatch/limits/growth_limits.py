"""Refuses writes when a company's quota, its share of the disk or the disk is nearly used up.

Each write is of one kind: it adds data, changes existing data "moves", or frees space. wmsd refuses additions
first and moves later. So users can still finish open documents and delete records, and admins can lock out a user
who fills the disk. Writes to `platform.db` and deletions may use the emergency space reserve. This is a file that
wmsd deletes when it needs the space (`data_folder/folder.py`).
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
"""A body with only these fields changes the status of a document, or switches something on or off. It counts as
"moves".
"""


class Room(NamedTuple):
    """The limits for one kind of write.

    `part` is a factor, such as 1.25: the write is refused if the company uses this many times its quota or its
    share. `least_free` returns how many bytes of the disk must be free.
    """

    part: float
    least_free: Callable[[Disk], int]


ROOM: Final[dict[Growth, Room]] = {
    "adds": Room(1.0, lambda disk: disk.refused_below),
    "moves": Room(1.25, lambda _: RESERVE_BYTES),
}
MEGABYTE: Final = 1_000_000
REACHED: Final[dict[BoundKind, str]] = {
    "quota": (
        "The quota of {} MB is used up, so new records cannot be stored. Delete records, or ask the platform "
        "admin for more space."
    ),
    "share": (
        "Less than a fifth of the server's disk is free, and this company has used its share of {} MB. Delete "
        "records, or ask the platform admin for a larger disk or a quota."
    ),
}
DISK_FULL: Final = (
    "The server's disk is nearly full, so new data cannot be stored. Tell the platform admin; you can "
    "still read and delete data."
)
DISK_GONE: Final = "The server cannot check its disk now; nothing was changed. Tell the platform admin."


def growth_of(operation: Operation, inputs: dict[str, Any]) -> Growth:
    """Return which kind of write the operation is.

    An operation without a body counts as "moves", because it adds almost nothing. For example, it sends a webhook
    delivery again.
    """
    if operation.answer == "nothing":
        return "frees"
    if operation.body is None:
        return "moves"
    given = inputs["body"].model_fields_set
    return "moves" if given and given <= MOVING_FIELDS else "adds"


class Storage:
    def __init__(self, folder: DataFolder, quota_megabytes: int, clock: Clock) -> None:
        """Create the check. `quota_megabytes` is the quota of companies that have no quota of their own; 0 means
        no quota.
        """
        self._folder = folder
        self._quota_megabytes = quota_megabytes
        self.held = Held()
        """The total size of all companies' files, as the last run of a job has counted it."""
        self._disk = f"the disk of {folder.path}"
        self._told = RepeatedFailures(
            LOG, monotonic=clock.monotonic, level=logging.WARNING, settled_seconds=FLAPPING_SECONDS
        )

    def quota(self, company: Company) -> int | None:
        """Return the company's quota in bytes, or None if the company has no quota."""
        megabytes = company_limits.quota_megabytes(company, self._quota_megabytes).value
        return megabytes * MEGABYTE if megabytes else None

    def quota_of(self, company: Company) -> Bound | None:
        quota = self.quota(company)
        return None if quota is None else Bound("quota", quota)

    def left(self, tx: Transaction, company: Company, beside: int) -> int | None:
        """Return how many bytes the company may still add, or None if there is no limit. `beside` is the number of
        bytes that the company stores outside its file. Raise Problem (507) if no space is left, or Problem (503)
        if the disk cannot be checked.
        """
        bound = self._bound(company, self._disk_now())
        if bound is None:
            return None
        left = bound.bytes - tx.bytes_used() - beside
        if left <= 0:
            raise _reached(bound)
        return left

    def admit(self, tx: Transaction, company: Company, growth: Growth) -> None:
        """Raise Problem if a write to the company's file is not allowed. Call this before each write.

        The status is 507 if the quota or the share of the disk is used up. It is 503 if the disk is full or cannot
        be checked.
        """
        if growth == "frees":
            return
        bound = self._bound(company, self.need_space(growth))
        if bound is not None and tx.bytes_used() >= bound.bytes * ROOM[growth].part:
            problem = _reached(bound)
            self._told.failed(_company(company), problem)
            raise problem
        if growth == "adds":  # only an addition proves that there is room for every kind of write
            self._told.over(_company(company))
            self._told.over(self._disk)

    def _bound(self, company: Company, disk: Disk) -> Bound | None:
        """Return the limit in bytes for what the company may store now, as a `Bound`. The limit is the company's
        quota or its share of the disk, whichever is smaller. Return None if there is no limit.
        """
        share = self.held.share_of(company, disk) if disk.is_shared else None
        bounds = [each for each in (self.quota_of(company), share) if each is not None]
        return min(bounds, key=lambda each: each.bytes, default=None)

    def need_space(self, growth: Growth = "adds") -> Disk:
        """Return the state of the disk. Raise Problem (503) if the disk is too full for this kind of write, or
        cannot be checked.
        """
        disk = self._disk_now()
        if disk.free < ROOM[growth].least_free(disk):
            problem = unavailable(DISK_FULL, 30)
            self._told.failed(self._disk, problem)
            raise problem
        return disk

    def _disk_now(self) -> Disk:
        """Return the state of the disk. Raise Problem (503) if the disk cannot be checked."""
        try:
            return disk_of(self._folder.path)
        except OSError as error:
            self._told.failed(self._disk, error)
            raise unavailable(DISK_GONE, 30) from None


def _reached(bound: Bound) -> Problem:
    return Problem("STORAGE_FULL", REACHED[bound.kind].format(bound.bytes // MEGABYTE))


def _company(company: Company) -> str:
    return f"company {company.code}"
