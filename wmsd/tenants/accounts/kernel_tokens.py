"""The platform token, which opens the kernel interface and nothing else. Only its hash is stored."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem, not_found
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies.store import write_audit

PREFIX: Final = "wmsdk_"
"""Lets people, and programs that look for leaked secrets, recognise a platform token."""
GRACE: Final = timedelta(hours=24)
"""How long a replaced token is still accepted."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted token, as the process holds it in memory."""

    hash: str
    expires_at: datetime | None
    id: int = 0

    def holds(self, now: datetime) -> bool:
        return self.expires_at is None or now < self.expires_at


@dataclass(frozen=True, slots=True)
class Made:
    """A new token. `token` is shown only once."""

    id: int
    token: str
    created_at: str


def is_accepted(token: str, known: Sequence[Accepted], now: datetime) -> bool:
    """Whether the token is accepted."""
    return accepted_one(token, known, now) is not None


def accepted_one(token: str, known: Sequence[Accepted], now: datetime) -> Accepted | None:
    """The one that the token is, if it is accepted. It is compared with every known one, in constant time, so that
    the time tells nothing.
    """
    digest = _digest(token)
    same = [each for each in known if hmac.compare_digest(each.hash, digest)]
    return next((each for each in same if each.holds(now)), None)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


ACCEPTED: Final = """
    SELECT hash, expires_at, id FROM kernel_tokens
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
"""


def accepted(tx: Transaction) -> tuple[Accepted, ...]:
    return tuple(
        Accepted(digest, None if expires_at is None else timestamps.from_text(expires_at), token_id)
        for digest, expires_at, token_id in tx.rows(ACCEPTED, (tx.timestamp,))
    )


CURRENT: Final = "SELECT created_at FROM kernel_tokens WHERE revoked_at IS NULL AND expires_at IS NULL"
CURRENT_ID: Final = "SELECT id FROM kernel_tokens WHERE revoked_at IS NULL AND expires_at IS NULL"
INSERT: Final = "INSERT INTO kernel_tokens (hash, created_at) VALUES (?, ?)"


def create(tx: Transaction) -> Made:
    """Creates the first token. Raises Problem when there is one that has been neither replaced nor revoked."""
    since = tx.value(CURRENT)
    if since is not None:
        sentence = f"There is a platform token already, made at {since}. `wmsd kernel-token rotate` replaces it."
        raise Problem("VALIDATION_FAILED", sentence)
    made = _make(tx)
    write_audit(tx, "kernel-token.create", str(made.id))
    return made


EXPIRE: Final = "UPDATE kernel_tokens SET expires_at = ? WHERE revoked_at IS NULL AND expires_at IS NULL"
REVOKE_ALL: Final = """
    UPDATE kernel_tokens SET revoked_at = :now
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
"""


def rotate(tx: Transaction, at_once: bool) -> Made:
    """Makes a new token. The previous one is accepted for another 24 hours; with `at_once`, all others end now.

    Raises Problem when there is none to replace.
    """
    if tx.value(CURRENT) is None:
        sentence = "There is no platform token to replace. `wmsd kernel-token create` makes one."
        raise Problem("VALIDATION_FAILED", sentence)
    if at_once:
        tx.execute(REVOKE_ALL, {"now": tx.timestamp})
    else:
        tx.execute(EXPIRE, (timestamps.to_text(tx.now + GRACE),))
    made = _make(tx)
    write_audit(tx, f"kernel-token.rotate{' at once' if at_once else ''}", str(made.id))
    return made


def _make(tx: Transaction) -> Made:
    token = PREFIX + tx.ids.secret()
    return Made(tx.insert(INSERT, (_digest(token), tx.timestamp)), token, tx.timestamp)


REVOKED_AT: Final = "SELECT revoked_at FROM kernel_tokens WHERE id = ?"
REVOKE: Final = "UPDATE kernel_tokens SET revoked_at = ? WHERE id = ?"


def revoke(tx: Transaction, token_id: int) -> bool:
    """Revokes a token; answers false when it was revoked before. Raises Problem (404) when there is none."""
    found = tx.row(REVOKED_AT, (token_id,))
    if found is None:
        raise not_found(f"platform token as {token_id}")
    if found[0] is not None:
        return False
    tx.execute(REVOKE, (tx.timestamp, token_id))
    write_audit(tx, "kernel-token.revoke", str(token_id))
    return True


NOTE_USE: Final = """
    UPDATE kernel_tokens SET last_used_at = :at, last_used_from = :address
    WHERE id = :id AND coalesce(last_used_at, '') <= :at
"""


def note_uses(tx: Transaction, uses: Iterable[Mapping[str, object]]) -> None:
    """Each use has the token's `id`, when it was (`at`), and its `address`."""
    tx.executemany(NOTE_USE, uses)


def current(tx: Transaction) -> int | None:
    """The id of the token that has been neither replaced nor revoked."""
    found: int | None = tx.value(CURRENT_ID)
    return found


LIST: Final = """
    SELECT id, created_at, expires_at, revoked_at,
        revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AS accepted
    FROM kernel_tokens ORDER BY id
"""


def every(tx: Transaction) -> list[dict[str, Any]]:
    """All tokens, past and present, without their text."""
    return [{**row, "accepted": bool(row["accepted"])} for row in tx.records(LIST, (tx.timestamp,))]
