"""Somebody can always look after the installation: the last platform admin who can sign in stays one, whoever asks
for something else, be it a person at the pages, the command line, or a provider of single sign-on.
"""

from collections.abc import Callable

from wmsd.accounts import store
from wmsd.accounts.rules import User
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors
from wmsd.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class SignOnAccounts:
    """Whether a user can sign in through a provider."""

    has_any: Callable[[Transaction, int], bool]


def errors_without(tx: Transaction, user: User, field: str) -> FieldErrors:
    """What is wrong with taking the role, or everything, from the user; `field` names what was asked to change."""
    if user.role != "platform-admin" or user.disabled:
        return {}
    has_account = tx.service(SignOnAccounts).has_any
    others = store.other_admins(tx, user.id)
    if any(has_password or has_account(tx, admin_id) for admin_id, has_password in others.items()):
        return {}
    return {field: [f"must stay as it is: {user.email} is the last platform admin who can sign in"]}
