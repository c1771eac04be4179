"""What admins do with users in the browser: invite and change them, disable them and enable them again."""

import json
from typing import Final, TypeVar

from wmsd.base.problems import FieldErrors, Problem, invalid, not_found, refuse_errors
from wmsd.contract.access import ABILITIES, MODULES, ROLES, Role
from wmsd.contract.context import Caller
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import (
    invitations,
    last_admin,
    sessions,
    sign_in_methods,
    store,
    token_store,
    user_rights,
)
from wmsd.tenants.accounts.actions import create_user, disable_user, taken_email
from wmsd.tenants.accounts.passwords import NO_PASSWORD
from wmsd.tenants.accounts.rules import User, abilities_of_new_user, check_abilities, may_manage
from wmsd.tenants.accounts.schema import (
    Invitation,
    LetIn,
    NewUser,
    UserEmail,
    UserRecord,
    UserRights,
    UserSettings,
    UserSettingsPatch,
)
from wmsd.tenants.accounts.user_lists import USERS
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.record_lists import for_company_admins, for_platform_admins
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.companies.unknown_codes import codes_in, errors_of_codes

MOST_COMPANIES_TOLD: Final = 200


def _record(tx: Transaction, caller: Caller, id: int) -> Record:
    _managed(tx, caller, id)
    return USERS.one(tx, id)


def _managed(tx: Transaction, caller: Caller, user_id: int) -> User:
    """Return a user. Raise Problem (404) if the user does not exist, or if the caller may not manage the user."""
    user = store.user_by_id(tx, user_id)
    if user is None or not may_manage(caller, user):
        raise not_found("user")
    return user


@for_company_admins(answer="record", returns=UserRecord)
def get_user_record(tx: Transaction, caller: Caller, id: int) -> Record:
    """Get a user."""
    return _record(tx, caller, id)


@for_company_admins(answer="object", returns=Invitation, writes=True)
def invite_user(tx: Transaction, caller: Caller, body: NewUser) -> dict[str, object]:
    """Invite a user.

    The response has a one-time link at which the user chooses a password. The link is shown only once. If another
    admin later gives the user a company, the user needs a new link to use this company.
    """
    body = _with_codes(tx, caller, body)
    errors = _errors_of(tx, caller, body, ())
    try:
        user_id = create_user(tx, body, NO_PASSWORD)
    except Problem as problem:
        raise invalid({**problem.errors, **errors}) from None
    refuse_errors(errors)
    return invitations.offer(tx, caller, user_id, body.email)


@for_company_admins(answer="object", returns=Invitation, writes=True)
def renew_invitation(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """Create a link at which a user chooses a new password.

    Use the link if the user has forgotten the password, or if new rights wait for a new password. The current
    password stays valid until the user chooses a new one.
    """
    user = _managed(tx, caller, id)
    if user.disabled:
        raise Problem("INVALID_STATUS", "This user is disabled. Enable the user first.")
    companies.write_audit(tx, "user.link", user.email)
    return invitations.offer(tx, caller, user.id, user.email)


@for_company_admins(answer="record", returns=UserRecord, writes=True, precondition=_record)
def change_user(tx: Transaction, caller: Caller, id: int, body: UserSettingsPatch) -> Record:
    """Change a user.

    If you take rights away, the user and the user's tokens lose these rights from the next request on.

    New rights apply to sessions and tokens that are created from now on. Existing sessions and tokens get no new
    rights. If another person may know the password, the new rights wait, and the response says so. The user gets
    the waiting rights by signing in with single sign-on, or by choosing a password at a new link.
    """
    user, before = _managed(tx, caller, id), json.loads(_record(tx, caller, id).json)
    settings = UserSettings(**{name: before[name] for name in UserSettings.model_fields} | body.given())
    if settings.role == "platform-admin" and "company_codes" not in body.given():
        settings = settings.model_copy(update={"company_codes": []})
    settings = _with_codes(tx, caller, settings)
    errors = _errors_of(tx, caller, settings, before["company_codes"])
    errors |= check_abilities(settings.abilities)
    if settings.role != "platform-admin":
        errors |= last_admin.errors_of_role(tx, user)
    known = companies.companies(tx)
    ids = {company.code: company.id for company in known}
    unknown = errors_of_codes(
        settings.company_codes, known, sentence=lambda code: f"{code} is not a company of this installation"
    )
    for path, sentences in unknown.items():
        errors.setdefault(path, sentences)
    refuse_errors(errors)
    abilities = abilities_of_new_user(settings.role, settings.abilities)
    held = sign_in_methods.of_user(tx, id)
    store.update_user(tx, id, {"name": settings.name})
    user_rights.set_rights(tx, user, settings.role, abilities, {ids[code] for code in settings.company_codes})
    after = USERS.one(tx, id)
    shown = {name: json.loads(after.json)[name] for name in UserSettings.model_fields}
    ended = companies.field_differences(held._asdict(), sign_in_methods.of_user(tx, id)._asdict())
    companies.write_audit(tx, "user.change", user.email, companies.field_differences(before, shown) | ended)
    return after


Settings = TypeVar("Settings", bound=UserSettings)


def _with_codes(tx: Transaction, caller: Caller, settings: Settings) -> Settings:
    """Return the settings with one code per item in `company_codes`. An item with several codes is split."""
    own = [company for company in companies.companies(tx) if caller.may_use(company.id)]
    return settings.model_copy(update={"company_codes": codes_in(settings.company_codes, own)})


def _errors_of(
    tx: Transaction, caller: Caller, settings: UserSettings, kept: tuple[str, ...] | list[str]
) -> FieldErrors:
    """Return an error for each setting that this admin may not give to a user. `kept` are the codes of companies
    that the user already has. These codes cause no error.
    """
    errors: FieldErrors = {}
    if settings.role == "platform-admin":
        if caller.role != "platform-admin":
            errors["role"] = ["must not be platform-admin: only a platform admin can create another one"]
        if settings.company_codes:
            errors["company_codes"] = ["must be empty: a platform admin may use every company"]
    elif caller.company_ids is not None:
        known = [company for company in companies.companies(tx) if caller.may_use(company.id)]
        if not settings.company_codes:
            errors["company_codes"] = ["must name at least one of your companies"]
        errors |= errors_of_codes(
            settings.company_codes, known, sentence=lambda code: f"{code} is not one of your companies", but=kept
        )
    return errors


@for_company_admins(answer="object", returns=Message, writes=True)
def shut_out_user(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """Disable a user.

    The user's sessions end, and the user's tokens are refused from the next request on.
    """
    user = _managed(tx, caller, id)
    if user.disabled:
        return {"message": f"{user.email} is already disabled. No changes were made."}
    disable_user(tx, user.email)
    return {"message": f"{user.email} is disabled."}


@for_company_admins(answer="object", returns=LetIn, writes=True)
def let_in_user(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """Enable a disabled user.

    The user's password and all tokens that were not revoked are valid again.
    """
    user = _managed(tx, caller, id)
    signs_in = last_admin.can_sign_in(tx, user)
    needs_link = not signs_in and not sign_in_methods.of_user(tx, id).link
    if not user.disabled:
        message = f"{user.email} is already enabled. No changes were made."
        if not signs_in:
            message = f"{user.email} is already enabled, but has no password yet. No changes were made."
        return {"message": message, "needs_link": needs_link}
    store.update_user(tx, user.id, {"disabled_at": None})
    companies.write_audit(tx, "user.enable", user.email)
    message = f"{user.email} is enabled."
    if not signs_in:
        message = f"{user.email} is enabled, but has no password yet."
    return {"message": message, "needs_link": needs_link}


@for_company_admins(answer="object", returns=Message, writes=True)
def end_user_access(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """End all sessions and tokens of a user.

    The user is signed out everywhere, and may sign in again.
    """
    user = _managed(tx, caller, id)
    invitations.end(tx, user.id)
    ended, revoked = sessions.end_all(tx, user.id), token_store.revoke_tokens_of(tx, user.id)
    companies.write_audit(tx, f"user.end-access {ended} sessions, {revoked} tokens", user.email)
    return {"message": f"Ended sessions: {ended}. Revoked tokens: {revoked}."}


@for_platform_admins(answer="record", returns=UserRecord, writes=True, precondition=_record)
def change_user_email(tx: Transaction, caller: Caller, id: int, body: UserEmail) -> Record:
    """Change a user's e-mail address.

    The user signs in with the new address from now on. The password, sessions and tokens stay valid. A link that
    was sent to the previous address is no longer valid.
    """
    user, email = _managed(tx, caller, id), body.email
    if email != user.email:
        refuse_errors(taken_email(tx, email, id))
        store.update_user(tx, id, {"email": email})
        invitations.end(tx, id)
        companies.write_audit(tx, "user.change", user.email, {"email": {"before": user.email, "after": email}})
    return _record(tx, caller, id)


@for_company_admins(answer="object", returns=Message, writes=True)
def delete_user(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """Delete a user, with its sessions and tokens.

    Records of the user's actions stay, with the e-mail address.
    """
    user = _managed(tx, caller, id)
    last_admin.check_not_last(tx, user)
    kept = {"name": user.name, "role": user.role}
    companies.write_audit(tx, "user.delete", user.email, companies.field_differences(kept, dict.fromkeys(kept)))
    store.delete_user(tx, id)
    return {"message": f"{user.email} is deleted."}


@for_company_admins(answer="object", returns=UserRights)
def get_user_rights(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """Get what a user may do now, and why."""
    user = _managed(tx, caller, id)
    usable = [each for each in companies.companies(tx) if user.may_use is None or each.id in user.may_use]
    return {
        "abilities": [
            {
                "ability": name,
                "opens": opens,
                "allowed": not user.disabled and name in user.may_do,
                "because": _because(user, name),
            }
            for name, opens in ABILITIES.items()
        ],
        "companies": [
            {
                "id": each.id,
                "name": each.name,
                "code": each.code,
                "modules_off": [module for module in MODULES if module not in each.modules],
            }
            for each in usable[:MOST_COMPANIES_TOLD]
        ],
        "companies_in_all": len(usable),
    }


def _because(user: User, ability: str) -> str:
    if user.disabled:
        return "The user is disabled, and can do nothing until an admin enables the user."
    if user.role != "member":
        role: Role = user.role
        return f"A {role.replace('-', ' ')} may do {ROLES[role]}."
    if ability in user.may_do:
        return "The user is a member, and has this ability. Members may do only what their abilities allow."
    return (
        "The user is a member, and does not have this ability. An admin can change the user and grant the ability."
    )
