"""The platform token, which gives access to the kernel interface only. Only its hash is stored.

The command line and the pages of platform admins can create, replace and revoke it.
"""

from typing import Any, Final, Literal

from wmsd.base.problems import Problem, or_not_found
from wmsd.contract.fields import Id, Model, Timestamp
from wmsd.contract.list_queries import NoQuery
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies.record_lists import NOW, filters_at_present, for_platform_admins, record_list
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.companies.store import write_audit
from wmsd.tenants.keys.bearers import Bearer, Replacement, bearer_of, end_of_replaced, secret_hash

PREFIX: Final = "wmsdk_"
"""The prefix by which people, and programs that search for leaked secrets, recognise a platform token."""


class KernelToken(Model):
    """A platform token, without its text.

    `status` is "current" for the token in use. A token that was replaced is "replaced" while it is still accepted,
    for a day, and then "ended". A token that was revoked is "revoked".
    """

    id: Id
    status: Literal["current", "replaced", "ended", "revoked"]
    accepted: bool
    created_at: Timestamp
    expires_at: Timestamp | None
    revoked_at: Timestamp | None
    last_used_at: Timestamp | None
    last_used_from: str | None


class MadeKernelToken(Model):
    """A new platform token. The token is shown only once."""

    id: Id
    token: str
    created_at: Timestamp


IS_ACCEPTED: Final = f"revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :{NOW})"
ACCEPTED: Final = f"SELECT hash, expires_at, id FROM kernel_tokens WHERE {IS_ACCEPTED}"


def accepted(tx: Transaction) -> list[Bearer[int]]:
    """Return the platform tokens that are accepted now. The `owner` of each `Bearer` is the id of the token."""
    return [bearer_of(*row) for row in tx.rows(ACCEPTED, {NOW: tx.timestamp})]


CURRENT: Final = "SELECT id, created_at FROM kernel_tokens WHERE revoked_at IS NULL AND expires_at IS NULL"
INSERT: Final = "INSERT INTO kernel_tokens (hash, created_at) VALUES (?, ?)"


def create(tx: Transaction) -> MadeKernelToken:
    """Create the first token. Raise Problem if a token exists that was not replaced and not revoked."""
    current = tx.row(CURRENT)
    if current is not None:
        sentence = (
            f"A platform token already exists, created at {current[1]}. To replace it, run `wmsd "
            "kernel-token rotate`."
        )
        raise Problem("VALIDATION_FAILED", sentence)
    made = _make(tx)
    write_audit(tx, "kernel-token.create", str(made.id))
    return made


EXPIRE: Final = "UPDATE kernel_tokens SET expires_at = ? WHERE revoked_at IS NULL AND expires_at IS NULL"
REVOKE_ALL: Final = f"UPDATE kernel_tokens SET revoked_at = :{NOW} WHERE {IS_ACCEPTED}"


def rotate(tx: Transaction, at_once: bool) -> MadeKernelToken:
    """Create a new token to replace the current one. The current token is accepted for another 24 hours. If
    `at_once` is True, all earlier tokens end now.

    Raise Problem if there is no token to replace.
    """
    if tx.row(CURRENT) is None:
        sentence = "There is no platform token to replace. To create one, run `wmsd kernel-token create`."
        raise Problem("VALIDATION_FAILED", sentence)
    if at_once:
        tx.execute(REVOKE_ALL, {NOW: tx.timestamp})
    else:
        tx.execute(EXPIRE, (end_of_replaced(tx),))
    made = _make(tx)
    write_audit(tx, f"kernel-token.rotate{' at once' if at_once else ''}", str(made.id))
    return made


def _make(tx: Transaction) -> MadeKernelToken:
    token = PREFIX + tx.ids.secret()
    token_id = tx.insert(INSERT, (secret_hash(token), tx.timestamp))
    return MadeKernelToken(id=token_id, token=token, created_at=tx.timestamp)


REVOKED_AT: Final = "SELECT revoked_at FROM kernel_tokens WHERE id = ?"


def revoke(tx: Transaction, token_id: int) -> bool:
    """Revoke a token. Return False if the token was revoked before. Raise Problem (404) if there is no such
    token.
    """
    [revoked_at] = or_not_found(tx.row(REVOKED_AT, (token_id,)), f"platform token as {token_id}")
    if revoked_at is not None:
        return False
    tx.execute("UPDATE kernel_tokens SET revoked_at = ? WHERE id = ?", (tx.timestamp, token_id))
    write_audit(tx, "kernel-token.revoke", str(token_id))
    return True


LIST: Final = f"""
    SELECT id, created_at, expires_at, revoked_at, {IS_ACCEPTED} AS accepted FROM kernel_tokens ORDER BY id
"""


def every(tx: Transaction) -> list[dict[str, Any]]:
    """Return all tokens, past and present, without their text."""
    return [{**row, "accepted": bool(row["accepted"])} for row in tx.records(LIST, {NOW: tx.timestamp})]


KERNEL_TOKENS: Final = record_list(
    "kernel_tokens",
    "List the platform tokens, including earlier ones.",
    "kernel_tokens",
    for_platform_admins,
    KernelToken,
    NoQuery,
    noun="platform token",
    columns={
        "accepted": IS_ACCEPTED,
        "status": f"""
            CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at IS NULL THEN 'current'
            WHEN expires_at > :{NOW} THEN 'replaced' ELSE 'ended' END
        """,
    },
    filters=filters_at_present,
    sort="-id",
)


@for_platform_admins(answer="record", returns=KernelToken)
def get_kernel_token(tx: Transaction, id: int) -> Record:
    """Get a platform token, without its text."""
    return KERNEL_TOKENS.one(tx, id)


@for_platform_admins(answer="object", returns=MadeKernelToken, writes=True, codes=("INVALID_STATUS",))
def make_kernel_token(tx: Transaction) -> dict[str, Any]:
    """Create the first platform token.

    The token is shown only once.
    """
    if tx.row(CURRENT) is not None:
        raise Problem("INVALID_STATUS", "A platform token already exists. Open it in the list, and replace it.")
    return create(tx).model_dump()


@for_platform_admins(answer="object", returns=MadeKernelToken, writes=True, codes=("INVALID_STATUS",))
def replace_kernel_token(tx: Transaction, id: int, body: Replacement) -> dict[str, Any]:
    """Replace the platform token.

    The new token is shown only once.
    """
    current = tx.row(CURRENT)
    if current is None or current[0] != id:
        raise Problem("INVALID_STATUS", "This token was already replaced or revoked. Check the list of tokens.")
    return rotate(tx, body.at_once).model_dump()


@for_platform_admins(answer="object", returns=Message, writes=True)
def revoke_kernel_token(tx: Transaction, id: int) -> dict[str, Any]:
    """Revoke a platform token.

    The token is refused from the next request on.
    """
    revoke(tx, id)
    return {"message": "The platform token is revoked."}
