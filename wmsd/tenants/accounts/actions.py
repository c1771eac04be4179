"""The use cases of users and tokens."""

from collections.abc import Container, Sequence
from datetime import timedelta

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.email_addresses import mailbox_of
from wmsd.base.problems import FieldErrors, Problem, forbidden, invalid, not_found, or_not_found, refuse_errors
from wmsd.contract.access import ABILITIES, EVERYTHING, Whitelist
from wmsd.contract.context import Caller, FromAddress, FromBrowser
from wmsd.contract.operation import operation
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import invitations, last_admin, second_factors, sessions, store, token_store, tokens
from wmsd.tenants.accounts.failed_sign_ins import PASSWORD, FailedSignIns
from wmsd.tenants.accounts.passwords import Origin, Passwords
from wmsd.tenants.accounts.reach import LinkCreator
from wmsd.tenants.accounts.rules import (
    User,
    abilities_of_new_user,
    check_abilities,
    grant,
    needs_second_factor,
)
from wmsd.tenants.accounts.schema import (
    BegunSession,
    CurrentUser,
    IssuedToken,
    NewUser,
    SignIn,
    SignInToPages,
)
from wmsd.tenants.accounts.second_factor_actions import SecondStepService, check_unchanged
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import CompanyList, Message
from wmsd.tenants.companies.unknown_codes import codes_in, company_named, errors_of_codes
from wmsd.tenants.keys import key_store
from wmsd.tenants.keys.master_key import MasterKey


@dataclass(frozen=True, slots=True)
class SignInService:
    """The objects that an operation needs to sign a user in.

    An operation opens several short transactions, because a transaction must not wait while a password is hashed.
    """

    platform: Database
    passwords: Passwords
    lifetime: timedelta
    whitelist: Container[str]
    """The abilities that a caller may request."""
    second_step: SecondStepService
    demands_second_factor: bool
    """Whether admins must have a second factor."""
    failed: FailedSignIns


@operation(
    tag="Authentication",
    answer="object",
    returns=IssuedToken,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    codes=("UNAUTHORIZED", "FORBIDDEN", "SERVICE_UNAVAILABLE"),
    max_body=16 * 1024,
)
async def issue_token(service: SignInService, body: SignIn, call: FromAddress) -> dict[str, object]:
    """Get a token for a user's e-mail address and password.

    The token has the abilities in `abilities`, and is shown only once. The answer is 403 if the password does not
    give the user all these abilities. If the user gains rights later, a new token is needed to use them. From the
    fifth failure on, each failure starts a pause of up to 60 s. During a pause, even the right password is
    refused. A user with a second factor cannot get a token in this way.
    """

    known = await _known(service, body.email, body.password, call.address)

    def issue(tx: Transaction) -> dict[str, object]:
        user = check_unchanged(tx, known)
        opened = user.within(user.password_reach)
        is_on = second_factors.is_on(tx, user.id)
        if is_on or needs_second_factor(opened, service.demands_second_factor):
            raise forbidden(
                "This user has a second factor, so the password alone cannot get a token. Ask a platform admin "
                "for a token."
            )
        abilities = grant(opened, body.abilities, service.whitelist)
        store.note_sign_in(tx, known.id, call.address)
        token = tokens.issue(
            tx,
            user_id=known.id,
            name=body.device_name,
            abilities=abilities,
            company_ids=None if opened is user else sorted(opened.company_ids),
            lifetime=service.lifetime,
            signed_in=True,
        ).token
        return {"token": token, "abilities": abilities}

    return await service.platform.write(issue, is_quiet=True)  # no cache contains a new token


async def _known(service: SignInService, email: str, password: str, address: str) -> User:
    """Return the active user with this e-mail address and password. Raise Problem (401) if the address or the
    password is wrong. Also raise the Problem (429, 503) of `Passwords.check`.
    """

    def look_up(tx: Transaction) -> tuple[User | None, Origin]:
        user = store.user_by_email(tx, email)
        account = mailbox_of(email) if user is None else user.email
        return user, Origin(account, address, store.has_signed_in_from(tx, account, address))

    user, origin = await service.platform.read(look_up)
    known = user if user is not None and not user.disabled else None
    good = await service.passwords.check(origin, password, known.password_hash if known else None)
    if not good or known is None:
        if user is not None:
            service.failed.note(PASSWORD, user.email, address)
        raise Problem("UNAUTHORIZED", "The e-mail address or the password is wrong.")
    return known


@operation(
    tag="Sessions",
    answer="object",
    returns=BegunSession,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    codes=("UNAUTHORIZED", "SERVICE_UNAVAILABLE"),
    max_body=16 * 1024,
)
async def begin_session(service: SignInService, body: SignInToPages, call: FromBrowser) -> dict[str, object]:
    """Sign in to the pages with an e-mail address and a password.

    A user with a second factor must also send a code of the second factor.
    """
    known = await _known(service, body.email, body.password, call.address)
    if await service.platform.read(lambda tx: second_factors.is_on(tx, known.id)):
        return {"secret": None, "pending": service.second_step.begin(known)}
    return await service.second_step.sign_in(known, call)


@operation(tag="Authentication", answer="object", returns=Message, scope="platform", writes=True, about_token=True)
def revoke_token(tx: Transaction) -> dict[str, object]:
    """Revoke the token of this request.

    The token is refused from the next request on.
    """
    assert tx.actor.token_id is not None
    token_store.revoke_token(tx, tx.actor.token_id)
    return {"message": "The token is revoked."}


@operation(tag="Authentication", answer="object", returns=CurrentUser, scope="platform", about_token=True)
def get_user(tx: Transaction) -> dict[str, object]:
    """Get the current user and token."""
    found = token_store.token_and_user(tx, id=tx.actor.token_id)
    if found is None:  # the token was deleted after it was checked
        raise Problem("UNAUTHORIZED", "The token is expired.")
    token, user = found
    whitelist = tx.service(Whitelist).abilities
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "role": user.role,
        "token": {
            "name": token.name,
            "abilities": [each for each in token.abilities if each == EVERYTHING or each in whitelist],
            "expires_at": timestamps.to_text(token.expires_at),
        },
    }


@operation(tag="Authentication", answer="object", returns=CompanyList, scope="platform", codes=("FORBIDDEN",))
def list_companies(tx: Transaction, caller: Caller, operator_id: int | None) -> dict[str, object]:
    """List the companies that the token may use.

    `X-Three-Pl-Id` narrows the list to the companies of one operator.
    """
    usable = [company for company in companies.companies(tx) if caller.may_use(company.id)]
    if operator_id is not None:
        usable = [c for c in usable if c.operator is not None and c.operator.id == operator_id]
        if not usable:
            raise Problem("FORBIDDEN", "This token may not use this operator's companies.")
    return {"data": [{"id": c.id, "name": c.name, "code": c.code} for c in usable]}


def create_user(tx: Transaction, new: NewUser, password_hash: str) -> int:
    """Create a user and return its id. Raise Problem (422) with all errors."""
    errors: FieldErrors = check_abilities(new.abilities)
    errors |= taken_email(tx, new.email)
    known = companies.companies(tx)
    ids = {company.code: company.id for company in known}
    codes = codes_in(new.company_codes, known)
    errors |= errors_of_codes(codes, known, sentence=lambda code: f"{code} is not a company of this installation")
    if new.role == "platform-admin" and new.company_codes:
        errors["company_codes"] = ["must be empty: a platform admin may use every company"]
    if new.role != "member" and new.abilities:
        errors["abilities"] = ["must be empty: an admin has all abilities"]
    refuse_errors(errors)
    companies.write_audit(tx, f"user.create {new.role}", new.email)
    return store.insert_user(
        tx,
        email=new.email,
        name=new.name,
        role=new.role,
        password_hash=password_hash,
        abilities=abilities_of_new_user(new.role, new.abilities),
        company_ids=sorted({ids[code] for code in codes}),
    )


def taken_email(tx: Transaction, email: str, of: int | None = None) -> FieldErrors:
    """Return an error if another user already has this e-mail address. `of` is the id of the user who may keep or
    get the address. For a new user, `of` is None.
    """
    is_taken = any(user.id != of for user in store.users_with_mailbox(tx, email))
    return {"email": ["is taken by another user"]} if is_taken else {}


def create_token(
    tx: Transaction,
    *,
    email: str,
    name: str,
    abilities: Sequence[str],
    company_codes: Sequence[str],
    lifetime: timedelta,
    whitelist: Container[str] = ABILITIES,
) -> str:
    """Create a token for a user on behalf of an admin, and return the text of the token.

    If `company_codes` is empty, the token gives access to all companies of the user. Raise Problem: 404 for an
    unknown user, 403 or 422 for rights that the user does not have.
    """
    user = user_of_email(tx, email)
    granted = grant(user, abilities, whitelist)
    company_ids = [_usable(tx, user, code) for code in dict.fromkeys(company_codes)] or None
    companies.write_audit(tx, f"token.create {name}", user.email)
    return tokens.issue(
        tx,
        user_id=user.id,
        name=name,
        abilities=granted,
        company_ids=company_ids,
        lifetime=lifetime,
        signed_in=False,
    ).token


def _usable(tx: Transaction, user: User, code: str) -> int:
    found = company_named(code, companies.companies(tx), "company").id
    if user.may_use is not None and found not in user.may_use:
        raise invalid({"company": [f"{code} is not a company that {user.email} may use"]})
    return found


def user_of_email(tx: Transaction, email: str) -> User:
    user = store.user_by_email(tx, email)
    if user is None or user.disabled:
        raise not_found(f"active user as {email}")
    return user


def disable_user(tx: Transaction, email: str) -> None:
    """Disable an active user. The user's tokens are refused from now on. The user's sessions, the one-time link,
    and the stored addresses of earlier sign-ins are deleted.

    Raise Problem: 404 if there is no such active user, 422 for the last platform admin.
    """
    user = user_of_email(tx, email)
    last_admin.check_not_last(tx, user)
    store.update_user(tx, user.id, {"disabled_at": tx.timestamp})
    store.forget_sign_ins(tx, user.id)
    invitations.end(tx, user.id)
    sessions.end_all(tx, user.id)
    companies.write_audit(tx, "user.disable", user.email)


def set_password(tx: Transaction, email: str, password_hash: str, *, keep_tokens: bool = False) -> int:
    """Set a new password on behalf of a platform admin. Return how many tokens were revoked.

    Revoke the tokens that the user received by signing in, unless `keep_tokens` is True.
    """
    user = user_of_email(tx, email)
    store.set_password(tx, user.id, password_hash, LinkCreator())
    invitations.end(tx, user.id)
    sessions.end_all(tx, user.id)
    companies.write_audit(tx, "user.set-password", user.email)
    ended = 0 if keep_tokens else token_store.revoke_signed_in(tx, user.id)
    if ended:
        companies.write_audit(tx, f"token.revoke {ended} made by signing in", user.email)
    return ended


def revoke_token_by_id(tx: Transaction, token_id: int) -> bool:
    """Revoke a token. Return True if the token was still valid. Raise Problem (404) if there is no such token."""
    or_not_found(token_store.token_and_user(tx, id=token_id), f"token as {token_id}")
    revoked = token_store.revoke_token(tx, token_id)
    companies.write_audit(tx, "token.revoke", str(token_id))
    return revoked


def rotate_signing_key(tx: Transaction) -> None:
    key_store.add_signing_key(tx, tx.ids.unique()[:8], tx.ids.secret())
    companies.write_audit(tx, "key.rotate", "signing key")


def rotate_keys(tx: Transaction) -> None:
    """Add a new signing key, and encrypt all keys with the newest secret of the key file."""
    rotate_signing_key(tx)
    key_store.reseal(tx, tx.service(MasterKey))
    companies.write_audit(tx, "key.rotate", "key file")


def move_keys(tx: Transaction, new: MasterKey) -> None:
    """Encrypt all keys with the secret of another key file. If `new` has no key file, store the keys in clear
    text.
    """
    key_store.reseal(tx, new)
    companies.write_audit(tx, "key.move", "key file")
