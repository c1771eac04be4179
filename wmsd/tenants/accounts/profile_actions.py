"""The use cases of whoever is signed in at the pages: the profile, the language, the rights, and the sessions."""

from wmsd.base import timestamps
from wmsd.base.problems import Problem, not_found
from wmsd.contract.access import ABILITIES, Whitelist, needed_ability
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import second_factors, sessions, store
from wmsd.tenants.accounts.actions import SignInService
from wmsd.tenants.accounts.rules import is_new
from wmsd.tenants.accounts.schema import Access, LanguageChoice, Profile, Sessions
from wmsd.tenants.accounts.second_factor_actions import person_of
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message


@operation(tag="Sessions", answer="object", returns=Profile, scope="platform", enrols=True)
def get_profile(tx: Transaction, caller: Caller) -> dict[str, object]:
    """Get who is signed in."""
    user = person_of(tx, caller)
    return {
        "name": user.name,
        "email": user.email,
        "role": caller.role,
        "installation": companies.installation_name(tx),
        "has_password": bool(user.password_hash),
        "second_factor": "demanded" if caller.must_enrol else "on" if second_factors.is_on(tx, user.id) else "off",
        "language": store.language_of(tx, user.id),
        "new_rights": None if not is_new(user, caller) else "sign-in" if user.password_reach is None else "link",
    }


@operation(tag="Sessions", answer="nothing", scope="platform")
async def choose_language(service: SignInService, body: LanguageChoice, caller: Caller) -> None:
    """Choose the language of the pages."""
    user_id = caller.actor.user_id
    assert user_id is not None
    # quiet: it decides on no access, so no cache need forget it
    await service.platform.write(lambda tx: store.set_language(tx, user_id, body.language), is_quiet=True)


@operation(tag="Sessions", answer="object", returns=Access, scope="platform", codes=("COMPANY_REQUIRED",))
def get_access(tx: Transaction, caller: Caller, company: Company | None) -> dict[str, object]:
    """Get a company, and what the person may do there now."""
    if company is None:
        raise Problem("COMPANY_REQUIRED", "Say which company it is.")
    in_force = tx.service(Whitelist).abilities
    return {
        "company": {"id": company.id, "name": company.name, "code": company.code},
        "sandbox": company.sandbox,
        "frozen_at": company.frozen_at,
        "modules": sorted(company.modules),
        "abilities": [name for name in ABILITIES if needed_ability(name, in_force) in caller.abilities],
    }


@operation(tag="Sessions", answer="object", returns=Sessions, scope="platform")
def list_sessions(tx: Transaction, caller: Caller) -> dict[str, object]:
    """List where the user is signed in; the session that was used last comes first."""
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
    """End a session of the user."""
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
    """End all sessions of the user but this one."""
    assert caller.actor.user_id is not None
    ended = sessions.end_all(tx, caller.actor.user_id, caller.session_id)
    companies.write_audit(tx, f"session.end {ended} others", caller.actor.name)
    return {"message": f"Sessions that were ended: {ended}."}
