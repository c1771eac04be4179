"""The platform token at the pages of platform admins."""

from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from wmsd.base.problems import Problem, not_found
from wmsd.contract.fields import Id, Input, Model, Timestamp
from wmsd.contract.list_queries import CursorQuery, PageQuery, Query, SortedBy
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.lists import Listing
from wmsd.db.sql.records import record_sql
from wmsd.tenants.accounts import kernel_tokens
from wmsd.tenants.companies.schema import Message

for_platform_admins = partial(operation, tag="Administration", scope="installation", role="platform-admin")
NOW: Final = "now"
"""A parameter of each record, and so a filter that no caller sends."""


class KernelToken(Model):
    """A platform token, without its text. One that is replaced is accepted for a day."""

    id: Id
    status: Literal["current", "replaced", "ended", "revoked"]
    accepted: bool
    created_at: Timestamp
    expires_at: Timestamp | None
    revoked_at: Timestamp | None
    last_used_at: Timestamp | None
    last_used_from: str | None


class KernelTokenQuery(PageQuery):
    sort: Annotated[str, SortedBy("id")] = "-id"


class KernelTokenCursorQuery(CursorQuery):
    pass


class AtOnce(Input):
    at_once: Annotated[
        bool, Field(description="Refuse the one before from now on, as when it leaked. Else it works for a day.")
    ] = False


class MadeKernelToken(Model):
    """A new platform token. It is shown only this once."""

    id: Id
    token: str
    created_at: Timestamp


IS_ACCEPTED: Final = f"revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :{NOW})"
TOKEN: Final = record_sql(
    KernelToken,
    {
        "accepted": IS_ACCEPTED,
        "status": f"""
            CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at IS NULL THEN 'current'
            WHEN expires_at > :{NOW} THEN 'replaced' ELSE 'ended' END
        """,
    },
)
TOKENS: Final = Listing("kernel_tokens", "id", {NOW: f"(:{NOW} IS NOT NULL)"}, "")


def _values(tx: Transaction, query: Query) -> dict[str, object]:
    return query.filters() | {NOW: tx.timestamp}


@for_platform_admins(answer="page", returns=KernelToken)
def list_kernel_tokens(tx: Transaction, query: KernelTokenQuery) -> Page:
    """List the platform tokens, also those of before."""
    return TOKENS.page(tx, TOKEN, query, _values(tx, query))


@for_platform_admins(answer="cursor", returns=KernelToken)
def walk_kernel_tokens(tx: Transaction, query: KernelTokenCursorQuery, position: int) -> CursorPage:
    """List them by cursor."""
    return TOKENS.after(tx, TOKEN, query, position, _values(tx, query))


@for_platform_admins(answer="record", returns=KernelToken)
def get_kernel_token(tx: Transaction, id: int) -> Record:
    """Get a platform token, without its text."""
    text = tx.value(f"SELECT {TOKEN} FROM kernel_tokens WHERE id = :id", {"id": id, NOW: tx.timestamp})
    if text is None:
        raise not_found("platform token")
    return Record(id, text)


@for_platform_admins(answer="object", returns=MadeKernelToken, writes=True, codes=("INVALID_STATUS",))
def make_kernel_token(tx: Transaction) -> dict[str, Any]:
    """Make the first platform token. It is shown only this once."""
    if kernel_tokens.current(tx) is not None:
        raise Problem("INVALID_STATUS", "There is a platform token already. Open it in the list, and replace it.")
    return _shown(kernel_tokens.create(tx))


@for_platform_admins(answer="object", returns=MadeKernelToken, writes=True, codes=("INVALID_STATUS",))
def replace_kernel_token(tx: Transaction, id: int, body: AtOnce) -> dict[str, Any]:
    """Replace the platform token. The new one is shown only this once."""
    if kernel_tokens.current(tx) != id:
        raise Problem("INVALID_STATUS", "This token was replaced or revoked already. Look in the list.")
    return _shown(kernel_tokens.rotate(tx, body.at_once))


@for_platform_admins(answer="object", returns=Message, writes=True)
def revoke_kernel_token(tx: Transaction, id: int) -> dict[str, Any]:
    """Revoke a platform token. It is refused from the next request on."""
    kernel_tokens.revoke(tx, id)
    return {"message": "The platform token is revoked."}


def _shown(made: kernel_tokens.Made) -> dict[str, Any]:
    return {"id": made.id, "token": made.token, "created_at": made.created_at}
