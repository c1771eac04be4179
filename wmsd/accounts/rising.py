"""What ends when a user gets other rights, so that nobody else comes in with them.

Whoever has invited a user may have kept the link, or chosen the password. So a link ends with any change of
rights. With a higher role the password, the sessions and the tokens end too: the user chooses a new password at a
new link, or comes in through a provider.
"""

from wmsd.accounts import invitations, sessions, store
from wmsd.accounts.passwords import NO_PASSWORD
from wmsd.accounts.rules import User
from wmsd.base.access import Role, has_role
from wmsd.db.transaction import Transaction


def is_higher(role: Role, before: Role) -> bool:
    return before != role and has_role(role, before)


def end_what_others_know(tx: Transaction, before: User, role: Role) -> bool:
    """Call it after the rights were changed. Returns whether the role is a higher one."""
    invitations.end(tx, before.id)
    rises = is_higher(role, before.role)
    if rises:
        store.set_password(tx, before.id, NO_PASSWORD)
        sessions.end_all(tx, before.id)
        store.revoke_tokens_of(tx, before.id)
    return rises
