"""The credentials of a user. If a change of the user ends some credentials, the pages show which ones, and the
audit records them.
"""

from typing import Final, NamedTuple

from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions, token_store

FIND: Final = """
    SELECT password_hash <> '',
        EXISTS (SELECT 1 FROM invitations WHERE user_id = users.id AND expires_at > :now)
    FROM users WHERE id = :user_id
"""


class Holdings(NamedTuple):
    password: bool
    link: bool
    """Whether there is a link to choose a new password."""
    sessions: int
    tokens: int
    """`sessions` and `tokens` are the numbers of the user's sessions and tokens that have not expired."""


NONE: Final = Holdings(False, False, 0, 0)


def of_user(tx: Transaction, user_id: int) -> Holdings:
    row = tx.row(FIND, {"user_id": user_id, "now": tx.timestamp})
    if row is None:
        return NONE
    has_password, has_link = row
    living = sessions.living(tx, user_id)
    return Holdings(bool(has_password), bool(has_link), living, token_store.active_tokens_of(tx, user_id))
