"""Sessions of users who are signed in to the pages. The browser stores the secret of a session in a cookie.

A session ends after some hours without use, some days after its creation, or when a user ends it. It also ends
when its user is disabled, gets another password, or signs in at more than 20 places.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Actor, Caller, FromBrowser
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import second_factors, store
from wmsd.tenants.accounts.reach import Reach
from wmsd.tenants.accounts.rules import User, needs_second_factor
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys.bearers import secret_hash

LONGEST_AGENT: Final = 200
MOST_OF_A_USER: Final = 20
TOO_MANY_PLACES: Final = (
    f"You signed in on more than {MOST_OF_A_USER} devices or browsers, so this session was ended. Sign in again."
)
MOST_REMEMBERED: Final = 10_000
"""The maximum number of ended sessions that are remembered in each of two groups. The first group has sessions
that expired. The second has sessions that ended because the user signed in at too many places.
"""
COLUMNS: Final = "id, user_id, made_at, seen_at, address, agent, reach"
BY_HASH: Final = f"SELECT {COLUMNS} FROM sessions WHERE hash = ?"
OF_USER: Final = f"SELECT {COLUMNS} FROM sessions WHERE user_id = ? ORDER BY seen_at DESC, id DESC"
INSERT: Final = """
    INSERT INTO sessions (hash, user_id, made_at, seen_at, address, agent, reach)
    VALUES (:hash, :user_id, :now, :now, :address, :agent, :reach)
"""
OTHERS: Final = "SELECT id, hash, made_at, seen_at FROM sessions WHERE user_id = ? AND id IS NOT ?"
LEFT: Final = "SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))"
END: Final = "DELETE FROM sessions WHERE id = ? AND user_id = ?"
LIVING: Final = """
    SELECT count(*) FROM sessions
    WHERE user_id = :user_id AND id IS NOT :but AND made_at > :made_after AND seen_at > :seen_after
"""
NUMBER: Final = "SELECT count(*) FROM sessions"
END_OLD: Final = "DELETE FROM sessions WHERE made_at <= ? OR seen_at <= ? RETURNING hash, user_id"


class SessionUses:
    """Data about sessions in memory: when each session was last used, and which sessions have ended."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[datetime, str]] = {}
        """By session id: the time of the last use, and the client address. Both are written to the database later.
        """
        self._displaced: OrderedDict[str, int] = OrderedDict()
        self._expired: OrderedDict[str, int] = OrderedDict()
        """The sessions that expired since the server started: the user's id, by the hash of the session.

        `_displaced` has the sessions that ended because their users signed in at too many places.
        """

    def displace(self, hash_: str, user_id: int) -> None:
        _remember(self._displaced, hash_, user_id)

    def expire(self, hash_: str, user_id: int) -> None:
        _remember(self._expired, hash_, user_id)

    def is_displaced(self, hash_: str) -> bool:
        """Return True if the session has ended because its user signed in at too many places. Sessions that ended
        before the server started are not known.

        Call this only if the session is not in the database: a session in the database has not ended.
        """
        return hash_ in self._displaced

    def former_user(self, hash_: str) -> int | None:
        """Return the user's id if the session expired, or ended because the user signed in at too many places.
        Return None if it ended for another reason or before the server started.
        """
        return self._displaced.get(hash_) or self._expired.get(hash_)


def _remember(kept: OrderedDict[str, int], hash_: str, user_id: int) -> None:
    kept[hash_] = user_id
    if len(kept) > MOST_REMEMBERED:
        kept.popitem(last=False)


class Lifetimes(NamedTuple):
    """How long a session lasts without use, and in total."""

    idle: timedelta
    most: timedelta


@dataclass(frozen=True, slots=True)
class Session:
    id: int
    user_id: int
    made_at: datetime
    seen_at: datetime
    address: str
    agent: str
    reach: Reach | None
    """The limit of the session's rights. With None, the session has all rights of its user."""

    def is_over(self, seen_at: datetime, now: datetime, lifetimes: Lifetimes) -> bool:
        """Return True if the session has expired. `seen_at` is the time of its last use."""
        return now >= self.made_at + lifetimes.most or now >= seen_at + lifetimes.idle


def sign_in(
    tx: Transaction, user_id: int, email: str, call: FromBrowser, reach: Reach | None = None, by: str = ""
) -> str:
    """Begin a session for a user who signs in, and store the client address. Return the session's secret.

    `by` is the way of signing in, which the audit records.
    """
    store.note_sign_in(tx, user_id, call.address)
    companies.write_audit(tx, f"session.begin{by}", email)
    return begin(tx, user_id, call.address, call.agent, reach)


def begin(tx: Transaction, user_id: int, address: str, agent: str, reach: Reach | None) -> str:
    """Begin a session and return its secret. Only the hash of the secret is stored. If the user now has too many
    sessions, end the oldest ones.

    `reach` limits the rights of the session. It is the reach of the credential with which the user signs in.
    """
    secret = tx.ids.secret()
    new = tx.insert(
        INSERT,
        {
            "hash": secret_hash(secret),
            "user_id": user_id,
            "now": tx.timestamp,
            "address": address,
            "agent": agent[:LONGEST_AGENT],
            "reach": None if reach is None else reach.to_json(),
        },
    )
    _end_beyond(tx, user_id, new)
    return secret


def _end_beyond(tx: Transaction, user_id: int, new: int) -> None:
    """End sessions of the user until at most `MOST_OF_A_USER` are left. Expired sessions end first, then the
    sessions that were not used for the longest time. The session `new` never ends.
    """
    made_after, _ = _oldest(tx, tx.service(Lifetimes))
    uses = tx.service(SessionUses)

    def last_use(row: tuple[int, str, str, str]) -> tuple[bool, str, int]:
        session_id, _, made_at, seen_at = row
        seen = uses.seen.get(session_id)
        return made_at > made_after, max(seen_at, timestamps.to_text(seen[0]) if seen else ""), session_id

    beyond = sorted(tx.rows(OTHERS, (user_id, new)), key=last_use)[: 1 - MOST_OF_A_USER]
    for session_id, hash_, _, _ in beyond:
        end(tx, session_id, user_id)
        uses.displace(hash_, user_id)
    user = store.user_by_id(tx, user_id) if beyond else None
    if user is not None:
        companies.write_audit(tx, f"session.end {len(beyond)} oldest", user.email)


class Found(NamedTuple):
    session: Session
    user: User
    has_second_factor: bool


def find(tx: Transaction, hash_: str) -> Found | None:
    row = tx.record(BY_HASH, (hash_,))
    user = store.user_by_id(tx, row["user_id"]) if row else None
    if row is None or user is None:
        return None
    return Found(_session(row), user, second_factors.is_on(tx, user.id))


def of_user(tx: Transaction, user_id: int) -> list[Session]:
    """Return the user's sessions. The session that was used last comes first."""
    return [_session(row) for row in tx.records(OF_USER, (user_id,))]


def left_of(tx: Transaction, ids: Collection[int]) -> set[int]:
    """Return the ids of the sessions in `ids` that still exist."""
    return {session_id for (session_id,) in tx.rows(LEFT, (dumps(list(ids)),))}


def number(tx: Transaction) -> int:
    """Return the number of sessions, including expired ones that were not removed yet."""
    return tx.number(NUMBER)


def end(tx: Transaction, session_id: int, user_id: int) -> bool:
    """End the session `session_id` of the user. Return False if the user has no such session."""
    return tx.execute(END, (session_id, user_id)).rowcount > 0


def end_all(tx: Transaction, user_id: int, but: int | None = None) -> int:
    """End all sessions of a user, except the session `but`. Return how many of them had not expired before."""
    ended = living(tx, user_id, but)
    tx.execute("DELETE FROM sessions WHERE user_id = ? AND id IS NOT ?", (user_id, but))
    return ended


def living(tx: Transaction, user_id: int, but: int | None = None) -> int:
    """Return the number of sessions of a user that have not expired. The session `but` is not counted."""
    made_after, seen_after = _oldest(tx, tx.service(Lifetimes))
    asked = {"user_id": user_id, "but": but, "made_after": made_after, "seen_after": seen_after}
    return tx.number(LIVING, asked)


def end_old(tx: Transaction, lifetimes: Lifetimes) -> list[tuple[str, int]]:
    """Remove the expired sessions. Return the hash and the user's id of each removed session."""
    return [(hash_, user_id) for hash_, user_id in tx.rows(END_OLD, _oldest(tx, lifetimes))]


def _oldest(tx: Transaction, lifetimes: Lifetimes) -> tuple[str, str]:
    """Return two times. A session has expired if it was created at or before the first time. It has also expired
    if it was last used at or before the second time.
    """
    return timestamps.to_text(tx.now - lifetimes.most), timestamps.to_text(tx.now - lifetimes.idle)


def note_seen(tx: Transaction, seen: Iterable[tuple[str, str, int]]) -> None:
    """Write the last uses of sessions. Each item has the time, the client address and the id of the session."""
    tx.executemany("UPDATE sessions SET seen_at = ?, address = ? WHERE id = ?", seen)


def caller_of(found: Found, demands_second_factor: bool) -> Caller:
    """Return the caller with all rights that the user has in this session.

    With `demands_second_factor`, admins must have a second factor. The field `must_enrol` of the caller is True
    for an admin who has not set up a second factor yet.
    """
    user = found.user.within(found.session.reach)
    must_enrol = needs_second_factor(user, demands_second_factor) and not found.has_second_factor
    actor = Actor(user.email, user.id)
    return Caller(
        actor,
        user.may_do,
        user.may_use,
        session_id=found.session.id,
        role=user.role,
        must_enrol=must_enrol,
    )


def _session(row: dict[str, Any]) -> Session:
    moments = {name: timestamps.from_text(row[name]) for name in ("made_at", "seen_at")}
    return Session(**{**row, **moments, "reach": Reach.from_json(row["reach"])})
