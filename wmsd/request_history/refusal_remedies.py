"""Advice about a refusal, from the current state of the installation."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.contract.access import expand
from wmsd.contract.context import Company
from wmsd.db.engine.transaction import Transaction
from wmsd.request_history.refusal_reasons import Refusal
from wmsd.tenants.accounts import store as accounts
from wmsd.tenants.accounts import token_store
from wmsd.tenants.accounts.rules import User

MOST_NAMED: Final = 3
AGAIN: Final = "Sending the same request again will not help."
BAD_BODY: Final = f"Send one JSON object in UTF-8 as the body. {AGAIN}"
BAD_DOCUMENT: Final = (
    f"Correct the GraphQL document: /docs/api/graphql lists each type with its fields and arguments. {AGAIN}"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A refused request, and the facts that the advice depends on. `sees_all` is True if the caller may know about
    other people's tokens.
    """

    tx: Transaction
    refusal: Refusal
    company: Company
    token_id: int | None
    sees_all: bool
    was_read: bool
    """True if the body had the required form, or if the request had no body."""
    now: datetime


def refusal_remedy(question: Question) -> str:
    """Return the advice about a refused request. `question.tx` must be a transaction of `platform.db`."""
    refusal = question.refusal
    found = BY_STATUS.get((refusal.code, refusal.status)) or BY_CODE.get(refusal.code) or UNKNOWN
    return found if isinstance(found, str) else found(question)


def _forbidden(question: Question) -> str:
    lack = question.refusal.lack
    if lack is None:
        return UNKNOWN
    kind, name = lack
    if kind == "ability":
        return _ability(question, name)
    if name in question.company.modules:
        return f"The module {name} is on now: send the request again."
    return (
        f"A platform admin can switch the module on: run wmsd module enable {question.company.code} "
        f"{name}, or use the page Companies."
    )


def _ability(question: Question, ability: str) -> str:
    token_id = question.token_id
    found = None if token_id is None else token_store.token_and_user(question.tx, id=token_id)
    if found is None:
        return f"The token no longer exists. Use a token that has {ability}.{_who(question)}"
    token, user = found
    has_it = ability in expand(token.abilities) & user.may_do
    if has_it and not token.revoked and token.expires_at > question.now:
        return "The token has the ability now: send the request again."
    others = _others(question, ability)
    if ability in user.may_do:
        return (
            f"{user.email} has this ability, but the token does not. {user.email} or an admin can create a "
            f"new token on the page Tokens.{others}"
        )
    return (
        f"{user.email} does not have this ability either. Use the token of another user.{others}{_who(question)}"
    )


def _others(question: Question, ability: str) -> str:
    """Return a sentence that lists the company's tokens with this ability. Return "" if the caller may not know
    about other people's tokens.
    """
    if not question.sees_all:
        return ""
    now = timestamps.to_text(question.now)
    may = {user.email for user in _own_users(question) if ability in user.may_do}
    names = [
        f"{token['name']} ({token['user']}, {token['id']})"
        for token in token_store.list_tokens(question.tx)
        if token["user"] in may
        and token["revoked_at"] is None
        and token["expires_at"] > now
        and ability in expand(token["abilities"])
        and (token["company_ids"] is None or question.company.id in token["company_ids"])
    ]
    return (
        f" These tokens have the ability: {_some(names)}."
        if names
        else " No token of this company has this ability."
    )


def _who(question: Question) -> str:
    """Return a sentence that says whom to ask: the company's admins, or a platform admin if there is none."""
    admins = [user.email for user in _own_users(question) if user.role == "company-admin"]
    return f" Ask {_some(admins) if admins else 'a platform admin'}."


def _own_users(question: Question) -> list[User]:
    """Return the active users of the company, without platform admins. Users of a company must not learn about the
    tokens of platform admins.
    """
    company_id = question.company.id
    return [
        user
        for user in accounts.users(question.tx)
        if not user.disabled and user.may_use is not None and company_id in user.may_use
    ]


def _some(names: list[str]) -> str:
    shown, more = names[:MOST_NAMED], len(names) - MOST_NAMED
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _limited(question: Question) -> str:
    which = "--graphql-per-minute" if question.refusal.noun == "GraphQL" else "--requests-per-minute"
    return (
        "Wait the number of seconds in the Retry-After header. To send fewer requests, ask for 500 records per "
        "list, and send If-None-Match (the answer 304 counts as a tenth of a request). A platform admin can "
        f"raise the limit: run wmsd company change {question.company.code} {which} N, or use the page Companies."
    )


def _malformed(question: Question) -> str:
    """Return the advice for status 400. Usually, the body cannot be read. In GraphQL, it can also mean that the
    document does not match the schema.
    """
    return BAD_DOCUMENT if question.refusal.noun == "GraphQL" and question.was_read else BAD_BODY


def _key(question: Question) -> str:
    made = question.refusal.details.get("id")
    first = "Read the record that the first request created." if made is None else f"Read the record {made} first."
    return f"Send a new Idempotency-Key with each new request, and the same key only to repeat a request. {first}"


def _taken(question: Question) -> str:
    taken = question.refusal.details.get("id")
    which = "the existing record with this external_ref" if taken is None else f"the record {taken}"
    return f"If you sent the same document twice, use {which}. Otherwise send a different external_ref."


def _there(what: str) -> str:
    return f"List the {what} of this company, and use an active one."


UNKNOWN: Final = "Send the id of this request to a platform admin."
BY_CODE: Final[Mapping[str, str | Callable[[Question], str]]] = {
    "UNAUTHORIZED": "Sign in again, or ask a platform admin for a new token.",
    "FORBIDDEN": _forbidden,
    "NOT_FOUND": "Check the address and the id. The record may also belong to another company.",
    "METHOD_NOT_ALLOWED": "Use a method from the Allow header of the answer.",
    "REQUEST_TIMEOUT": "Send the request again over a faster connection, or send a smaller request.",
    "INVALID_STATUS": "Read the record again, and request a change that its current status allows.",
    "PRECONDITION_FAILED": "Read the record again, repeat the change, and send the new ETag as If-Match.",
    "VALIDATION_FAILED": f"Correct the errors before you send the request again. {AGAIN}",
    "COMPANY_REQUIRED": "Send X-Company-Id with the id of a company: GET /api/companies lists the companies "
    "of the token.",
    "INSUFFICIENT_STOCK": "Request a smaller quantity, or wait for a goods receipt: the event stock.updated "
    "reports it.",
    "INVALID_PARTNER": _there("partners"),
    "INVALID_WAREHOUSE": _there("warehouses"),
    "INVALID_ARTICLE": _there("articles"),
    "EXTERNAL_REF_TAKEN": _taken,
    "IDEMPOTENCY_KEY_REUSED": _key,
    "RATE_LIMIT_EXCEEDED": _limited,
    "SERVER_ERROR": "wmsd had an internal error; nothing was changed. Send the id of this request to a "
    "platform admin, who can find the cause in the log.",
    "SERVICE_UNAVAILABLE": (
        "Nothing was changed. Wait the number of seconds in the Retry-After header, then send the request "
        "again. If the error continues, see the page Today."
    ),
    "OUTCOME_UNKNOWN": (
        "The change may or may not have been made. Check whether it was made, or repeat the request "
        "with the same Idempotency-Key: wmsd then makes the change only once."
    ),
    "STORAGE_FULL": "Delete records that you no longer need, or ask a platform admin for a larger quota.",
}
BY_STATUS: Final[Mapping[tuple[str, int], str | Callable[[Question], str]]] = {
    ("VALIDATION_FAILED", 400): _malformed,
    ("VALIDATION_FAILED", 406): "Send the header Accept: application/json.",
    ("VALIDATION_FAILED", 413): "Split the data into several requests, or request shorter lists.",
    ("VALIDATION_FAILED", 415): "Send the body uncompressed, with Content-Type: application/json.",
}
