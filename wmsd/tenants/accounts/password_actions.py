"""People choose a password of their own: at the one-time link that an admin gave them, and in place of one
they know.
"""

import asyncio
from dataclasses import replace

from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.contract.context import Actor, Caller, FromAddress
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import invitations, sessions, store, token_store, ways_in
from wmsd.tenants.accounts.actions import SignInService
from wmsd.tenants.accounts.failed_sign_ins import PASSWORD
from wmsd.tenants.accounts.password_strength import chosen_password_errors
from wmsd.tenants.accounts.passwords import Origin
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.accounts.schema import ChosenPassword, Invited, LinkQuery, PasswordChange, PasswordChanged
from wmsd.tenants.accounts.second_factor_actions import check_unchanged, person_of
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message


@operation(tag="Sessions", answer="object", returns=Invited, scope="platform", limit="open", signed_in=False)
def get_invited(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """Get whom a link is for."""
    user, _ = invitations.invited(tx, query.code)
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
    signing in. It opens also what the password of before did not open yet.
    """
    user, _ = await service.platform.read(lambda tx: invitations.invited(tx, body.code))
    if errors := await asyncio.to_thread(chosen_password_errors, body.password, body.again, user.email, user.name):
        raise invalid(errors)
    password_hash = await service.passwords.hash(body.password)

    def choose(tx: Transaction) -> None:
        _, voucher = invitations.invited(tx, body.code)  # it may have been used meanwhile
        store.set_password(tx, user.id, password_hash, voucher)
        invitations.end(tx, user.id)
        sessions.end_all(tx, user.id)
        token_store.revoke_signed_in(tx, user.id)
        companies.write_audit(tx, "user.choose-password", user.email)

    await service.platform.write(choose, Actor(user.email, user.id, address=call.address))
    return {"message": "Your password is set. Sign in with it."}


@operation(
    tag="Sessions",
    answer="object",
    returns=PasswordChanged,
    scope="platform",
    limit="sign-in",
    codes=("INVALID_STATUS", "UNAUTHORIZED", "SERVICE_UNAVAILABLE"),
    max_body=16 * 1024,
)
async def change_password(
    service: SignInService, body: PasswordChange, caller: Caller, call: FromAddress
) -> dict[str, object]:
    """Change one's own password. It ends the other sessions of the user, and the tokens that were made by signing
    in. This session stays.
    """

    def look_up(tx: Transaction) -> tuple[User, Origin]:
        user = person_of(tx, caller)
        if not user.password_hash:
            raise Problem(
                "INVALID_STATUS",
                "You have no password here: you come in by single sign-on. Change the password at your provider.",
            )
        is_known = store.has_signed_in_from(tx, user.email, call.address)
        return user, Origin(user.email, call.address, is_known)

    user, origin = await service.platform.read(look_up)
    is_right = await service.passwords.check(origin, body.current, user.password_hash)
    if not is_right:
        service.failed.note(PASSWORD, user.email, call.address)
    errors: FieldErrors = {} if is_right else {"current": ["is not your password"]}
    errors |= await asyncio.to_thread(chosen_password_errors, body.password, body.again, user.email, user.name)
    if is_right and body.password == body.current:
        errors["password"] = ["is the one that you have: choose another"]
    if errors:
        raise invalid(errors)
    password_hash = await service.passwords.hash(body.password)

    def change(tx: Transaction) -> dict[str, object]:
        check_unchanged(tx, user)
        held = ways_in.of_user(tx, user.id)
        store.replace_password(tx, user.id, password_hash)
        invitations.end(tx, user.id)
        ended = {
            "sessions_ended": sessions.end_all(tx, user.id, caller.session_id),
            "tokens_ended": token_store.revoke_signed_in(tx, user.id),
        }
        details = companies.field_differences(held._asdict(), ways_in.of_user(tx, user.id)._asdict())
        companies.write_audit(tx, "user.change-password", user.email, details)
        return {**ended}

    return await service.platform.write(change, replace(caller.actor, address=call.address))
