"""Somebody can always look after the installation: the last platform admin who can sign in stays one, whoever asks
for something else, be it a person at the pages, the command line, or a provider of single sign-on.
"""

from collections.abc import Callable
from typing import Final

from wmsd.accounts import store
from wmsd.accounts.rules import User
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.db.transaction import Transaction

AT_THE_PAGES: Final = "People, Invite somebody"
"""The way out, in a sentence for the pages. The command line has another one in its place."""


@dataclass(frozen=True, slots=True)
class SignOnAccounts:
    """Whether a user can sign in through a provider."""

    has_any: Callable[[Transaction, int], bool]


def errors_of_role(tx: Transaction, user: User) -> FieldErrors:
    """What is wrong with taking the role from the user."""
    if not _is_last(tx, user):
        return {}
    return {
        "role": [
            f"must stay as it is: {user.email} is the last platform admin who can sign in. "
            f"Make another platform admin first: {AT_THE_PAGES}"
        ]
    }


def check_not_last(tx: Transaction, user: User) -> None:
    """Raises Problem (422) where nobody could look after the installation without the user."""
    if _is_last(tx, user):
        raise Problem(
            "VALIDATION_FAILED",
            f"{user.email} is the last platform admin who can sign in. "
            f"Make another platform admin first: {AT_THE_PAGES}.",
        )


def _is_last(tx: Transaction, user: User) -> bool:
    if user.role != "platform-admin" or user.disabled:
        return False
    has_account = tx.service(SignOnAccounts).has_any
    others = store.other_admins(tx, user.id)
    return not any(has_password or has_account(tx, admin_id) for admin_id, has_password in others.items())
