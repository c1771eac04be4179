"""One-time links with which people choose a password: at an invitation, and when they have forgotten their own.
Only the hash of a link's code is kept.
"""

import hashlib
from datetime import timedelta
from typing import Final, NamedTuple

from wmsd.accounts import store
from wmsd.accounts.rules import User
from wmsd.base import timestamps
from wmsd.base.problems import Problem
from wmsd.db.transaction import Transaction

LIFETIME: Final = timedelta(days=7)
OFFER: Final = "INSERT OR REPLACE INTO invitations (user_id, hash, expires_at) VALUES (?, ?, ?)"
FIND: Final = "SELECT user_id FROM invitations WHERE hash = ? AND expires_at > ?"
END: Final = "DELETE FROM invitations WHERE user_id = ?"


class Offered(NamedTuple):
    """A new link. `code` is shown only once."""

    code: str
    expires_at: str


def offer(tx: Transaction, user_id: int) -> Offered:
    """Makes a link for the user, in place of any earlier one."""
    code, expires_at = tx.ids.secret(), timestamps.to_text(tx.now + LIFETIME)
    tx.execute(OFFER, (user_id, _hash(code), expires_at))
    return Offered(code, expires_at)


def invited(tx: Transaction, code: str) -> User:
    """Whom the link is for. Raises Problem (404) when it was used, is too old, or its user is disabled."""
    user_id = tx.value(FIND, (_hash(code), tx.timestamp))
    user = None if user_id is None else store.user_by_id(tx, user_id)
    if user is None or user.disabled:
        raise Problem("NOT_FOUND", "This link was used already or is no longer valid. Ask an admin for a new one.")
    return user


def end(tx: Transaction, user_id: int) -> None:
    """Ends the user's link, if there is one."""
    tx.execute(END, (user_id,))


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()
