"""The rule that keeps at least one platform admin who can sign in. It applies in the browser, on the command line
and to single sign-on.
"""

import re
from collections.abc import Callable
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import store
from wmsd.tenants.accounts.rules import User

AT_THE_PAGES: Final = "People, Invite a user"
LINK_AT_THE_PAGES: Final = re.compile(r"People, (\S+), Create password link")
"""Finds the instructions for the browser in an error sentence. The command line replaces these instructions, and
AT_THE_PAGES, with commands.
"""


@dataclass(frozen=True, slots=True)
class SignOnAccounts:
    """A function that tells whether a user can sign in through a provider."""

    has_any: Callable[[Transaction, int], bool]


def can_sign_in(tx: Transaction, user: User) -> bool:
    """Return True if the user has a password, or an account at a provider. The function does not check whether the
    user is disabled.
    """
    return bool(user.password_hash) or tx.service(SignOnAccounts).has_any(tx, user.id)


def errors_of_role(tx: Transaction, user: User) -> FieldErrors:
    """Return an error if the user is the last platform admin who can sign in with all rights. This user's role
    must not change.
    """
    why = _why_last(tx, user)
    return {} if why is None else {"role": [f"cannot be changed: {why}"]}


def check_not_last(tx: Transaction, user: User) -> None:
    """Raise Problem (422) if the user is the last platform admin who can sign in with all rights."""
    why = _why_last(tx, user)
    if why is not None:
        raise Problem("VALIDATION_FAILED", f"{why}.")


def _opens_role(user: User) -> bool:
    """Return True if the user has a password, and the password gives all rights of the user."""
    return bool(user.password_hash) and user.password_reach is None


def _why_last(tx: Transaction, user: User) -> str | None:
    """Return the reason why the user is the last platform admin, with a remedy.

    Return None if the user is not an active platform admin, or if another platform admin can sign in with all
    rights.
    """
    if user.role != "platform-admin" or user.disabled:
        return None
    has_account = tx.service(SignOnAccounts).has_any
    others = store.other_admins(tx, user.id)
    if any(_opens_role(each) or has_account(tx, each.id) for each in others):
        return None
    signs_in = can_sign_in(tx, user)
    if not others and signs_in:
        return (
            f"{user.email} is the last platform admin who can sign in. Create another platform admin first: "
            f"{AT_THE_PAGES}"
        )
    if not others:
        return (
            f"{user.email} is the last platform admin, and has no password yet. Create another platform "
            f"admin first: {AT_THE_PAGES}"
        )
    other = others[0]
    if signs_in and other.password_reach is not None:
        return (
            f"{user.email} is the only platform admin who can sign in. The platform admin {other.email} must "
            "first open the password link and choose a new password. To create a new link: People, "
            f"{other.email}, Create password link"
        )
    if signs_in:
        return (
            f"{user.email} is the only platform admin who can sign in. The platform admin {other.email} must "
            "first open the password link and choose a password. To create a new link: People, "
            f"{other.email}, Create password link"
        )
    return (
        f"The platform admins {user.email} and {other.email} have no password yet. {other.email} must "
        f"first open the password link and choose a password. To create a new link: People, {other.email}, Create "
        "password link"
    )
