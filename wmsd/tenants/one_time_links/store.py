"""Links that work once and let somebody in: to become the first admin, or into the demo. Only the hash of a link's
code is kept.
"""

import hmac
from datetime import timedelta

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.keys import key_store
from wmsd.tenants.keys.bearers import secret_hash


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """`name` is that of the secret under which the hash is kept."""

    name: str
    lifetime: timedelta

    def offer(self, tx: Transaction) -> str:
        """Makes a new code in place of any earlier one."""
        code = tx.ids.secret()
        key_store.set_secret(tx, self.name, f"{timestamps.to_text(tx.now + self.lifetime)} {secret_hash(code)}")
        return code

    def is_offered(self, tx: Transaction) -> bool:
        """Whether there is a link that was not used yet."""
        return key_store.secret(tx, self.name) is not None

    def is_open(self, tx: Transaction, code: str) -> bool:
        """Whether the link with this code can be used now."""
        kept = key_store.secret(tx, self.name)
        if kept is None:
            return False
        until, digest = kept.split(" ")
        return tx.timestamp < until and hmac.compare_digest(digest, secret_hash(code))

    def check(self, tx: Transaction, code: str) -> None:
        """Raises Problem (404) unless the link with this code can be used now."""
        if not self.is_open(tx, code):
            raise Problem("NOT_FOUND", "This link was used already or is no longer valid.")

    def end(self, tx: Transaction) -> None:
        """Nobody can use the link any more."""
        key_store.drop_secret(tx, self.name)
