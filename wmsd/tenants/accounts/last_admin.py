"""Somebody can always look after the installation: the last platform admin who can sign in stays one, whoever asks
for something else, be it a person at the pages, the command line, or a provider of single sign-on.
"""

import re
from collections.abc import Callable
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import store
from wmsd.tenants.accounts.rules import User

AT_THE_PAGES: Final = "People, Invite somebody"
LINK_AT_THE_PAGES: Final = re.compile(r"People, (\S+), Link to a new password")
"""The ways out, in a sentence for the pages. The command line has others in their place."""


@dataclass(frozen=True, slots=True)
class SignOnAccounts:
    """Whether a user can sign in through a provider."""

    has_any: Callable[[Transaction, int], bool]


def can_sign_in(tx: Transaction, user: User) -> bool:
    """Whether there is a password, or an account at a provider, for one who is not shut out."""
    return bool(user.password_hash) or tx.service(SignOnAccounts).has_any(tx, user.id)


def errors_of_role(tx: Transaction, user: User) -> FieldErrors:
    """What is wrong with taking the role from the user."""
    why = _why_last(tx, user)
    return {} if why is None else {"role": [f"must stay as it is: {why}"]}


def check_not_last(tx: Transaction, user: User) -> None:
    """Raises Problem (422) where nobody could look after the installation without the user."""
    why = _why_last(tx, user)
    if why is not None:
        raise Problem("VALIDATION_FAILED", f"{why}.")


def _opens_role(user: User) -> bool:
    """Whether there is a password, and no right waits for another one."""
    return bool(user.password_hash) and user.password_reach is None


def _why_last(tx: Transaction, user: User) -> str | None:
    """What is so, and the way out; None where somebody else can look after the installation."""
    if user.role != "platform-admin" or user.disabled:
        return None
    has_account = tx.service(SignOnAccounts).has_any
    others = store.other_admins(tx, user.id)
    if any(_opens_role(each) or has_account(tx, each.id) for each in others):
        return None
    signs_in = can_sign_in(tx, user)
    if not others and signs_in:
        return (
            f"{user.email} is the last platform admin who can sign in. "
            f"Make another platform admin first: {AT_THE_PAGES}"
        )
    if not others:
        return (
            f"{user.email} is the last platform admin, and has no password yet. "
            f"Make another platform admin first: {AT_THE_PAGES}"
        )
    other = others[0]
    if signs_in and other.password_reach is not None:
        return (
            f"{user.email} is the last platform admin who can sign in. {other.email} is a platform admin too, but "
            "needs a new password: have the link opened first, or make another: "
            f"People, {other.email}, Link to a new password"
        )
    if signs_in:
        return (
            f"{user.email} is the last platform admin who can sign in. {other.email} is a platform admin too, but "
            "has no password yet: have the link opened first, or make another: "
            f"People, {other.email}, Link to a new password"
        )
    return (
        f"{user.email} has no password yet, and neither has {other.email}, who is a platform admin too: "
        "have the link opened first, or make another: "
        f"People, {other.email}, Link to a new password"
    )
