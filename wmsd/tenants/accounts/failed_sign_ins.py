"""The audit entries about failed sign-ins. Each user has at most one entry per hour, with the number of failures.

An attacker can cause any number of failures. Therefore failures are counted in memory, and only for known users. A
text typed in place of an e-mail address is not recorded, because it may be a password.
"""

from dataclasses import field
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Actor
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import store as companies

PASSWORD: Final = "sign-in.failed"
SECOND_FACTOR: Final = "second-factor.failed"
TOLD_EVERY: Final = 3600.0
MOST_USERS: Final = 1000
"""The maximum number of separate counts of failures. If more users have failures, the failures of the remaining
users are counted together.
"""
OTHERS: Final = "other users"
MOST_ADDRESSES: Final = 5
NOBODY: Final = "not signed in"


@dataclass(slots=True)
class _Failures:
    count: int = 0
    addresses: list[str] = field(default_factory=list)
    """The client addresses of the first failures."""
    told_at: float | None = None

    def is_due(self, now: float) -> bool:
        return self.count > 0 and (self.told_at is None or now - self.told_at >= TOLD_EVERY)


class FailedSignIns:
    def __init__(self, platform: Database, clock: Clock) -> None:
        self._platform = platform
        self._clock = clock
        self._failures: dict[tuple[str, str], _Failures] = {}

    def note(self, action: str, email: str, address: str) -> None:
        """Count a failure. `action` is the name for the audit entry, and `email` the e-mail address of an existing
        user.
        """
        key = (action, email)
        if key not in self._failures and len(self._failures) >= MOST_USERS:
            key = (action, OTHERS)
        found = self._failures.setdefault(key, _Failures())
        found.count += 1
        if address not in found.addresses and len(found.addresses) < MOST_ADDRESSES:
            found.addresses.append(address)

    async def write_failed_sign_ins(self) -> None:
        """Write the counted failures of each user who had no audit entry in the last hour. A job calls this method
        once a minute.
        """
        now = self._clock.monotonic()
        await self._write({key: each for key, each in self._failures.items() if each.is_due(now)}, now)
        for key, each in list(self._failures.items()):
            if each.count == 0 and (each.told_at is None or now - each.told_at >= TOLD_EVERY):
                del self._failures[key]

    async def write_last(self) -> None:
        """Write all remaining failures, when the server stops."""
        await self._write({key: each for key, each in self._failures.items() if each.count}, 0.0)

    async def _write(self, due: dict[tuple[str, str], _Failures], now: float) -> None:
        """Write the failures in `due` to the audit. Failures that are counted during this write are left for the
        next write.
        """
        if not due:
            return
        written = {key: (each.count, each.addresses) for key, each in due.items()}
        for each in due.values():
            each.count, each.addresses = 0, []

        def write(tx: Transaction) -> None:
            for (action, email), (count, addresses) in written.items():
                details = companies.field_differences({}, {"failures": count, "addresses": addresses})
                companies.write_audit(tx, action, email, details, Actor(NOBODY, address=addresses[-1]))

        try:
            await self._platform.write(write, is_quiet=True)
        except BaseException:
            for key, (count, addresses) in written.items():
                due[key].count += count
                due[key].addresses = list(dict.fromkeys(addresses + due[key].addresses))[:MOST_ADDRESSES]
            raise
        for key in written:
            due[key].told_at = now
