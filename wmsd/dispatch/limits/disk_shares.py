"""The shares of the disk: how much a company may store when less than a fifth of the disk is free.

Each company has an equal share. The last fifth of the disk is for the companies that store less than their share.
A company that stores more can then add nothing, unless a platform admin has given the company a quota.
"""

from typing import Final, Literal, NamedTuple

from wmsd.base.machine.disk import Disk
from wmsd.contract.context import Company

BoundKind = Literal["quota", "share"]
GROWTH_AFTER_UPGRADE: Final = 1.25
"""A company may store at least this many times what it stored when wmsd introduced disk shares. This matters for
companies whose equal share is less.
"""


class Bound(NamedTuple):
    kind: BoundKind
    bytes: int


class Held(NamedTuple):
    """The size of the files of all companies at the last count, and the number of companies."""

    bytes: int = 0
    companies: int = 0

    def share_of(self, company: Company, disk: Disk) -> Bound | None:
        """Return how much the company may store while the companies share the disk.

        Return None if there is no such limit: the company has a quota, or the bytes in the files are not counted
        yet.
        """
        if not self.companies or company.quota_megabytes or company.held_before is None:
            return None
        equal = (self.bytes + disk.free) // self.companies
        return Bound("share", max(equal, int(company.held_before * GROWTH_AFTER_UPGRADE)))
