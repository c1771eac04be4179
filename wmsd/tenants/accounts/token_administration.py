"""API tokens in the browser. All users create and revoke their own tokens. Admins also create and revoke tokens of
the users whom they manage.
"""

from datetime import timedelta
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, invalid, not_found, refuse_errors
from wmsd.contract.access import Whitelist
from wmsd.contract.context import Caller
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import store, token_store, tokens
from wmsd.tenants.accounts.reach import both_companies, covers
from wmsd.tenants.accounts.rules import Token, User, as_far_as, grant, may_manage
from wmsd.tenants.accounts.schema import MadeToken, TokenRecord, TokenToMake
from wmsd.tenants.accounts.user_lists import TOKENS
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.record_lists import for_everybody
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.companies.unknown_codes import codes_in, errors_of_codes

MOST_TOKENS: Final = 200
"""The maximum number of valid tokens of a user. A user with this number cannot create another token here. Tokens
that the user received by signing in are counted too.
"""


@dataclass(frozen=True, slots=True)
class TokenLifetimes:
    """The lifetime of a token in days: the default, and the maximum."""

    usual: int
    most: int


def _record(tx: Transaction, caller: Caller, id: int) -> Record:
    """Return a token. Raise Problem (404) if there is no such token, or if the caller may not manage its user."""
    found = token_store.token_and_user(tx, id=id)
    if found is None or not _may_use_token(caller, *found):
        raise not_found("token")
    return TOKENS.one(tx, id)


def _may_use_token(caller: Caller, token: Token, user: User) -> bool:
    """Return True if the caller may see and revoke the token. `user` is the user of the token.

    The caller may do this with the tokens of managed users, and with the caller's own tokens. Own tokens that open
    a company which the caller's session does not open are excluded.
    """
    if may_manage(caller, user):
        return True
    opened = both_companies(token.company_ids, user.may_use)
    return user.id == caller.actor.user_id and covers(caller.company_ids, opened)


@for_everybody(answer="record", returns=TokenRecord)
def get_token_record(tx: Transaction, caller: Caller, id: int) -> Record:
    """Get a token. The secret text of the token is not included."""
    return _record(tx, caller, id)


@for_everybody(answer="object", returns=MadeToken, codes=("FORBIDDEN",), writes=True)
def make_token(tx: Transaction, caller: Caller, body: TokenToMake) -> dict[str, object]:
    """Create a token.

    The token never has more rights than its user. The token is shown only once.
    """
    lifetimes = tx.service(TokenLifetimes)
    days = lifetimes.usual if body.days is None else body.days
    errors: FieldErrors = {}
    if days > lifetimes.most:
        errors["days"] = [f"must be at most {lifetimes.most} (tokens.most_days in the settings)"]
    user = _user(tx, caller, body.user)
    if user is not None and token_store.active_tokens_of(tx, user.id) >= MOST_TOKENS:
        errors["name"] = [
            f"cannot be created: {user.email} already has {MOST_TOKENS} tokens; revoke some of them first"
        ]
    if user is None:
        errors["user"] = ["is not the e-mail address of an active user whom you manage"]
        raise invalid(errors)
    known = [each for each in companies.companies(tx) if _is_usable(user, each.id)]
    usable = {each.code: each.id for each in known}
    codes = codes_in(body.company_codes, known)
    errors |= errors_of_codes(
        codes, known, sentence=lambda code: f"{code} is not a company that {user.email} may use"
    )
    refuse_errors(errors)
    abilities = grant(user, body.abilities, tx.service(Whitelist).abilities)
    chosen: list[int] | None = [usable[code] for code in dict.fromkeys(codes)] or None
    if caller.company_ids is not None:
        chosen = chosen or sorted(usable.values())  # not companies that the user gains later
    issued = tokens.issue(
        tx,
        user_id=user.id,
        name=body.name,
        abilities=abilities,
        company_ids=chosen,
        lifetime=timedelta(days=days),
        signed_in=False,
    )
    companies.write_audit(tx, f"token.create {body.name}", user.email)
    return {
        **issued._asdict(),
        "abilities": abilities,
        "company_id": next(iter(chosen or usable.values()), None),
    }


def _is_usable(user: User, company_id: int) -> bool:
    return user.may_use is None or company_id in user.may_use


def _user(tx: Transaction, caller: Caller, email: str | None) -> User | None:
    """Return the user of a new token. The user is active, and the caller manages the user. Return None if the
    caller may not create tokens for this e-mail address.

    If `email` is None or the caller's own address, return the caller, with only the rights of the session.
    """
    user = store.user_by_id(tx, caller.actor.user_id or 0) if email is None else store.user_by_email(tx, email)
    if user is not None and user.id == caller.actor.user_id:
        return as_far_as(caller, user)
    return user if user is not None and not user.disabled and may_manage(caller, user) else None


@for_everybody(answer="object", returns=Message, writes=True)
def revoke_token_record(tx: Transaction, caller: Caller, id: int) -> dict[str, object]:
    """Revoke a token.

    The token is refused from the next request on.
    """
    _record(tx, caller, id)
    if token_store.revoke_token(tx, id):
        companies.write_audit(tx, "token.revoke", str(id))
    return {"message": "The token is revoked."}
