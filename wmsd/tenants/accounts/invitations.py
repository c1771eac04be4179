"""One-time links with which users choose a password: after an invitation, or when they have forgotten their
password.

Only the hash of a link's code is stored.
"""

from datetime import timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.problems import Problem
from wmsd.contract.context import Caller
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import store
from wmsd.tenants.accounts.reach import LinkCreator, companies_from_text, companies_to_text
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.keys.bearers import secret_hash

LIFETIME: Final = timedelta(days=7)
OFFER: Final = """
    INSERT OR REPLACE INTO invitations (user_id, hash, expires_at, scope, made_by) VALUES (?, ?, ?, ?, ?)
"""
FIND: Final = "SELECT user_id, scope, made_by FROM invitations WHERE hash = ? AND expires_at > ?"
END: Final = "DELETE FROM invitations WHERE user_id = ?"


def offer(tx: Transaction, caller: Caller, user_id: int, email: str) -> dict[str, object]:
    """Create a one-time link for the user, and return it in the form of an Invitation. An earlier link of the user
    ends.

    The caller is stored as the creator of the link. The companies of this creator limit the rights of the new
    password (`LinkCreator`).
    """
    code, expires_at = tx.ids.secret(), timestamps.to_text(tx.now + LIFETIME)
    scope = companies_to_text(caller.company_ids)
    tx.execute(OFFER, (user_id, secret_hash(code), expires_at, scope, caller.actor.user_id))
    return {"id": user_id, "email": email, "code": code, "expires_at": expires_at}


def invited(tx: Transaction, code: str) -> tuple[User, LinkCreator]:
    """Return the user of the link with this code, and the admin who created it. Raise Problem (404) if the link
    was used or has expired, or if its user is disabled.
    """
    row = tx.row(FIND, (secret_hash(code), tx.timestamp))
    user = None if row is None else store.user_by_id(tx, row[0])
    if row is None or user is None or user.disabled:
        raise Problem("NOT_FOUND", "This link was used already or is no longer valid. Ask an admin for a new one.")
    return user, LinkCreator(companies_from_text(row[1]), row[2])


def creator_of_link(tx: Transaction, user_id: int) -> LinkCreator:
    """Return the admin who created the user's link. If the user has no link, return a LinkCreator for all
    companies.
    """
    row = tx.row("SELECT scope, made_by FROM invitations WHERE user_id = ?", (user_id,))
    return LinkCreator() if row is None else LinkCreator(companies_from_text(row[0]), row[1])


def end(tx: Transaction, user_id: int) -> None:
    """End the user's link, if there is one."""
    tx.execute(END, (user_id,))
