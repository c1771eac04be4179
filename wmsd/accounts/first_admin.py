"""The one-time link with which a new installation gets its first admin. Only its hash is stored."""

import hashlib
import hmac
from datetime import timedelta

from wmsd.accounts import store
from wmsd.accounts.actions import create_user
from wmsd.accounts.schema import NewUser
from wmsd.base import timestamps
from wmsd.base.problems import Problem
from wmsd.db.transaction import Transaction

SECRET = "first-admin"
LIFETIME = timedelta(hours=24)


def offer(tx: Transaction) -> str | None:
    """Makes a new code in place of any earlier one; None when there is an admin already."""
    if store.has_admin(tx):
        store.drop_secret(tx, SECRET)
        return None
    code = tx.ids.secret()
    store.set_secret(tx, SECRET, f"{timestamps.to_text(tx.now + LIFETIME)} {_digest(code)}")
    return code


def is_offered(tx: Transaction) -> bool:
    """Whether there is a link and no admin yet."""
    return store.secret(tx, SECRET) is not None and not store.has_admin(tx)


def is_open(tx: Transaction, code: str) -> bool:
    kept = store.secret(tx, SECRET)
    if kept is None or not is_offered(tx):
        return False
    until, digest = kept.split(" ")
    return tx.timestamp < until and hmac.compare_digest(digest, _digest(code))


def redeem(tx: Transaction, code: str, new: NewUser, password_hash: str) -> int:
    """Creates the first admin and answers its id. Raises Problem (404) when the link is used, old or wrong."""
    if not is_open(tx, code):
        raise Problem("NOT_FOUND", "This link was used already or is no longer valid.")
    user_id = create_user(tx, new, password_hash)
    store.drop_secret(tx, SECRET)
    return user_id


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
