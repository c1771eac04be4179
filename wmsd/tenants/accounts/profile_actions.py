"""What users do with their own accounts in the browser. The account has a profile, a language, rights, sessions
and a password.
"""

import asyncio
from dataclasses import replace

from wmsd.base import timestamps
from wmsd.base.letters import prepared_password
from wmsd.base.problems import FieldErrors, Problem, not_found, refuse_errors
from wmsd.contract.access import ABILITIES
from wmsd.contract.context import Actor, Caller, Company, FromAddress
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import invitations, second_factors, sessions, sign_in_methods, store, token_store
from wmsd.tenants.accounts.actions import SignInService
from wmsd.tenants.accounts.failed_sign_ins import PASSWORD
from wmsd.tenants.accounts.password_strength import chosen_password_errors
from wmsd.tenants.accounts.passwords import Origin
from wmsd.tenants.accounts.rules import User, is_new
from wmsd.tenants.accounts.schema import (
    Access,
    ChosenPassword,
    Invited,
    LanguageChoice,
    LinkQuery,
    PasswordChange,
    PasswordChanged,
    Profile,
    Sessions,
    TimeZoneChoice,
)
from wmsd.tenants.accounts.second_factor_actions import check_unchanged, person_of
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message


@operation(tag="Sessions", answer="object", returns=Profile, scope="platform", enrols=True)
def get_profile(tx: Transaction, caller: Caller) -> dict[str, object]:
    """Get the signed-in user."""
    user = person_of(tx, caller)
    return {
        "name": user.name,
        "email": user.email,
        "role": caller.role,
        "abilities": sorted(caller.abilities),
        "installation": companies.installation_name(tx),
        "has_password": bool(user.password_hash),
        "second_factor": "demanded" if caller.must_enrol else "on" if second_factors.is_on(tx, user.id) else "off",
        "language": store.language_of(tx, user.id),
        "time_zone": store.time_zone_of(tx, user.id),
        "new_rights": None if not is_new(user, caller) else "sign-in" if user.password_reach is None else "link",
    }


@operation(tag="Sessions", answer="nothing", scope="platform")
async def choose_language(service: SignInService, body: LanguageChoice, caller: Caller) -> None:
    """Choose the language of the pages."""
    user_id = caller.actor.user_id
    assert user_id is not None
    # quiet, because the language does not affect access, so no cache has to be cleared
    await service.platform.write(lambda tx: store.set_language(tx, user_id, body.language), is_quiet=True)


@operation(tag="Sessions", answer="nothing", scope="platform")
async def choose_time_zone(service: SignInService, body: TimeZoneChoice, caller: Caller) -> None:
    """Choose the time zone of the pages."""
    user_id = caller.actor.user_id
    assert user_id is not None
    # quiet, because the time zone does not affect access, so no cache has to be cleared
    await service.platform.write(lambda tx: store.set_time_zone(tx, user_id, body.time_zone), is_quiet=True)


@operation(tag="Sessions", answer="object", returns=Access, scope="platform", codes=("COMPANY_REQUIRED",))
def get_access(tx: Transaction, caller: Caller, company: Company | None) -> dict[str, object]:
    """Get a company and your abilities in it."""
    if company is None:
        raise Problem(
            "COMPANY_REQUIRED", "The request names no company. Send X-Company-Id with the id of a company."
        )
    return {
        "company": {"id": company.id, "name": company.name, "code": company.code},
        "sandbox": company.sandbox,
        "frozen_at": company.frozen_at,
        "time_zone": company.time_zone,
        "modules": sorted(company.modules),
        "abilities": [name for name in ABILITIES if name in caller.abilities],
    }


@operation(tag="Sessions", answer="object", returns=Sessions, scope="platform")
def list_sessions(tx: Transaction, caller: Caller) -> dict[str, object]:
    """List your sessions.

    The session that was used last comes first.
    """
    assert caller.actor.user_id is not None
    return {
        "data": [
            {
                "id": each.id,
                "made_at": timestamps.to_text(each.made_at),
                "seen_at": timestamps.to_text(each.seen_at),
                "address": each.address,
                "agent": each.agent,
                "is_this": each.id == caller.session_id,
            }
            for each in sessions.of_user(tx, caller.actor.user_id)
        ]
    }


@operation(tag="Sessions", answer="object", returns=Message, scope="platform", writes=True)
def end_session(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """End one of your sessions."""
    assert caller.actor.user_id is not None
    if not sessions.end(tx, id, caller.actor.user_id):
        raise not_found("session")
    companies.write_audit(tx, "session.end", caller.actor.name)
    return {"message": "The session is ended."}


@operation(tag="Sessions", answer="object", returns=Message, scope="platform", writes=True, enrols=True)
def end_this_session(tx: Transaction, caller: Caller) -> dict[str, object]:
    """Sign out."""
    if caller.actor.user_id is not None and caller.session_id is not None:
        sessions.end(tx, caller.session_id, caller.actor.user_id)
        companies.write_audit(tx, "session.end", caller.actor.name)
    return {"message": "You are signed out."}


@operation(tag="Sessions", answer="object", returns=Message, scope="platform", writes=True)
def end_other_sessions(tx: Transaction, caller: Caller) -> dict[str, object]:
    """End all your other sessions."""
    assert caller.actor.user_id is not None
    ended = sessions.end_all(tx, caller.actor.user_id, caller.session_id)
    companies.write_audit(tx, f"session.end {ended} others", caller.actor.name)
    return {"message": f"Ended sessions: {ended}."}


@operation(tag="Sessions", answer="object", returns=Invited, scope="platform", limit="open", signed_in=False)
def get_invited(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """Get the user of a one-time link."""
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
    """Choose a password at a one-time link.

    The user's sessions end, and the tokens that the user received by signing in are revoked. The user also gets
    the rights that have waited for a new password.
    """
    user, _ = await service.platform.read(lambda tx: invitations.invited(tx, body.code))
    refuse_errors(
        await asyncio.to_thread(chosen_password_errors, body.password, body.again, user.email, user.name)
    )
    password_hash = await service.passwords.hash(body.password)

    def choose(tx: Transaction) -> None:
        _, link_creator = invitations.invited(tx, body.code)  # the link may have been used meanwhile
        store.set_password(tx, user.id, password_hash, link_creator)
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
    """Change your own password.

    Your other sessions end, and the tokens that you received by signing in are revoked. This session stays.
    """

    def look_up(tx: Transaction) -> tuple[User, Origin]:
        user = person_of(tx, caller)
        if not user.password_hash:
            raise Problem(
                "INVALID_STATUS",
                "You have no password here. Sign in by single sign-on, or with a link from an admin.",
            )
        is_known = store.has_signed_in_from(tx, user.email, call.address)
        return user, Origin(user.email, call.address, is_known)

    user, origin = await service.platform.read(look_up)
    is_right = await service.passwords.check(origin, body.current, user.password_hash)
    if not is_right:
        service.failed.note(PASSWORD, user.email, call.address)
    errors: FieldErrors = {} if is_right else {"current": ["is wrong"]}
    errors |= await asyncio.to_thread(chosen_password_errors, body.password, body.again, user.email, user.name)
    if is_right and prepared_password(body.password) == prepared_password(body.current):
        errors["password"] = ["is your current password: choose another one"]
    refuse_errors(errors)
    password_hash = await service.passwords.hash(body.password)

    def change(tx: Transaction) -> dict[str, object]:
        check_unchanged(tx, user)
        held = sign_in_methods.of_user(tx, user.id)
        # the new password opens the same rights, because the user knew the previous one
        store.update_user(tx, user.id, {"password_hash": password_hash})
        invitations.end(tx, user.id)
        ended = {
            "sessions_ended": sessions.end_all(tx, user.id, caller.session_id),
            "tokens_ended": token_store.revoke_signed_in(tx, user.id),
        }
        details = companies.field_differences(held._asdict(), sign_in_methods.of_user(tx, user.id)._asdict())
        companies.write_audit(tx, "user.change-password", user.email, details)
        return {**ended}

    return await service.platform.write(change, replace(caller.actor, address=call.address))
