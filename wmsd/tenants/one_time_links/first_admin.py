"""The one-time link with which a new installation gets its first admin."""

import asyncio
from datetime import timedelta
from typing import Final

from wmsd.base.problems import Problem, invalid
from wmsd.contract.context import Actor, FromBrowser
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions, store
from wmsd.tenants.accounts.actions import SignInService, create_user
from wmsd.tenants.accounts.password_strength import chosen_password_errors
from wmsd.tenants.accounts.schema import BegunSession, FirstAdmin, LinkQuery, NewUser, Wanted
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.one_time_links.store import OneTimeLink

LINK: Final = OneTimeLink("first-admin", timedelta(hours=24))


def offer(tx: Transaction) -> str | None:
    """Makes a new code in place of any earlier one; None when there is an admin already."""
    if store.has_admin(tx):
        LINK.end(tx)
        return None
    return LINK.offer(tx)


@operation(tag="Sessions", answer="object", returns=Message, scope="platform", limit="open", signed_in=False)
def look_for_first_admin(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """Tell whether the link to become the first admin can be used."""
    _check(tx, query.code)
    return {"message": "This installation has no admin yet."}


@operation(tag="Sessions", answer="object", returns=Wanted, scope="platform", limit="open", signed_in=False)
def is_first_admin_wanted(tx: Transaction) -> dict[str, object]:
    """Tell whether this installation waits for its first admin."""
    return {"wanted": LINK.is_offered(tx) and not store.has_admin(tx)}


def _check(tx: Transaction, code: str) -> None:
    """Raises Problem (404) when the link is used, old or wrong, and when there is an admin."""
    if store.has_admin(tx):
        raise Problem("NOT_FOUND", "This installation has an admin already.")
    LINK.check(tx, code)


@operation(
    tag="Sessions",
    answer="object",
    returns=BegunSession,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    max_body=16 * 1024,
)
async def make_first_admin(service: SignInService, body: FirstAdmin, call: FromBrowser) -> dict[str, object]:
    """Become the first admin, and sign in."""
    await service.platform.read(lambda tx: _check(tx, body.code))
    if errors := await asyncio.to_thread(chosen_password_errors, body.password, body.again, body.email, body.name):
        raise invalid(errors)
    password_hash = await service.passwords.hash(body.password)
    new = NewUser(email=body.email, name=body.name, role="platform-admin")

    def make(tx: Transaction) -> str:
        _check(tx, body.code)  # somebody else may have been quicker
        user_id = create_user(tx, new, password_hash)
        LINK.end(tx)
        store.note_sign_in(tx, user_id, call.address)
        companies.write_audit(tx, "session.begin", body.email.lower())
        return sessions.begin(tx, user_id, call.address, call.agent, None)

    return {"secret": await service.platform.write(make, Actor(body.email.lower(), address=call.address))}
