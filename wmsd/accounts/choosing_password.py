"""People choose a password of their own, at the one-time link that an admin gave them."""

import asyncio

from wmsd.accounts import invitations, sessions, store
from wmsd.accounts.actions import SignInService
from wmsd.accounts.schema import ChosenPassword, Invited, LinkQuery
from wmsd.accounts.strength import chosen_password_errors
from wmsd.base.context import Actor, FromAddress
from wmsd.base.operation import operation
from wmsd.base.problems import invalid
from wmsd.companies import store as companies
from wmsd.companies.schema import Message
from wmsd.db.transaction import Transaction


@operation(tag="Sessions", answer="object", returns=Invited, scope="platform", limit="open", signed_in=False)
def get_invited(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """Get whom a link is for."""
    user = invitations.invited(tx, query.code)
    return {"name": user.name, "email": user.email}


@operation(
    tag="Sessions",
    answer="object",
    returns=Message,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    max_body=16 * 1024,
)
async def choose_password(service: SignInService, body: ChosenPassword, call: FromAddress) -> dict[str, object]:
    """Choose a password at a one-time link. It ends the sessions of the user, and the tokens that were made by
    signing in.
    """
    user = await service.platform.read(lambda tx: invitations.invited(tx, body.code))
    if errors := await asyncio.to_thread(chosen_password_errors, body.password, body.again, user.email, user.name):
        raise invalid(errors)
    password_hash = await service.passwords.hash(body.password)

    def choose(tx: Transaction) -> None:
        invitations.invited(tx, body.code)  # it may have been used meanwhile
        store.set_password(tx, user.id, password_hash)
        invitations.end(tx, user.id)
        sessions.end_all(tx, user.id)
        store.revoke_signed_in(tx, user.id)
        companies.audit(tx, "user.choose-password", user.email)

    await service.platform.write(choose, Actor(user.email, user.id, address=call.address))
    return {"message": "Your password is set. Sign in with it."}
