"""The shares of the disk: how much a company may hold once less than a fifth of the disk is free.

The last fifth is kept for the companies that hold less than their equal share. Those that hold more add nothing
then, unless a site admin has given them a quota of their own.
"""

from typing import Final, Literal, NamedTuple

from wmsd.base.machine.disk import Disk
from wmsd.contract.context import Company

BoundKind = Literal["quota", "share"]
GROWTH_AFTER_UPGRADE: Final = 1.25
"""By so much a company may outgrow what it held before there were shares, even where its share is less."""


class Bound(NamedTuple):
    kind: BoundKind
    bytes: int


class Held(NamedTuple):
    """What the files of all companies hold, as counted last."""

    bytes: int = 0
    companies: int = 0

    def share_of(self, company: Company, disk: Disk) -> Bound | None:
        """What the company may hold while the disk is shared. None: what there is, because nothing was counted yet
        or it has a quota of its own.
        """
        if not self.companies or company.quota_megabytes or company.held_before is None:
            return None
        equal = (self.bytes + disk.free) // self.companies
        return Bound("share", max(equal, int(company.held_before * GROWTH_AFTER_UPGRADE)))
