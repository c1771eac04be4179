"""The shares of the disk. They limit how much a company may store while less than a fifth of the disk is free.

Each company has an equal share. The free fifth is reserved for companies that store less than their share. A
company that already stores more than its share can add nothing. A company with a quota of its own has no share,
and can add data up to its quota.
"""

from typing import Final, Literal, NamedTuple

from wmsd.base.machine.disk import Disk
from wmsd.contract.context import Company

BoundKind = Literal["quota", "share"]
GROWTH_AFTER_UPGRADE: Final = 1.25
"""A factor. A company may store at least what it stored when wmsd introduced disk shares, multiplied by this
factor. This matters for companies whose equal share is less.
"""


class Bound(NamedTuple):
    kind: BoundKind
    bytes: int


class Held(NamedTuple):
    """The total size of all companies' files at the last count, and the number of companies."""

    bytes: int = 0
    companies: int = 0

    def share_of(self, company: Company, disk: Disk) -> Bound | None:
        """Return the company's share of the disk in bytes, as a `Bound`. The company may store this much while the
        companies share the disk.

        Return None if no share applies: the company has a quota, or wmsd has not yet counted the sizes of the
        files.
        """
        if not self.companies or company.quota_megabytes or company.held_before is None:
            return None
        equal = (self.bytes + disk.free) // self.companies
        return Bound("share", max(equal, int(company.held_before * GROWTH_AFTER_UPGRADE)))
