"""The use cases of signing on through a provider."""

import logging
from collections.abc import Mapping
from typing import Any, Final, Protocol

from wmsd.base.problems import Problem, forbidden, or_not_found, unavailable
from wmsd.contract.context import Actor, Caller, FromBrowser
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import invitations, sessions
from wmsd.tenants.accounts import store as accounts
from wmsd.tenants.accounts.last_admin import errors_of_role
from wmsd.tenants.accounts.passwords import NO_PASSWORD
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.accounts.user_rights import set_rights
from wmsd.tenants.companies import store as companies
from wmsd.tenants.sign_on import exchange, store
from wmsd.tenants.sign_on.id_tokens import BadToken
from wmsd.tenants.sign_on.metadata import Metadata, Published
from wmsd.tenants.sign_on.open_sign_ons import SignOn
from wmsd.tenants.sign_on.provider_requests import NoAnswer
from wmsd.tenants.sign_on.providers import Provider
from wmsd.tenants.sign_on.rules import Decision, Known, Rights, decide, person_of, refusal_sentence
from wmsd.tenants.sign_on.schema import Beginning, BegunSignOn, ComingBack, Providers, SignedOn
from wmsd.tenants.sign_on.service import SignOnService

LOG: Final = logging.getLogger("wmsd.sign_on")
AGAIN: Final = "Start again on the sign-in page."


class FromOrigin(Protocol):
    @property
    def origin(self) -> str: ...


@operation(tag="Sessions", answer="object", returns=Providers, scope="platform", limit="none", signed_in=False)
async def list_providers(service: SignOnService) -> dict[str, object]:
    """List the providers that people may sign in through."""
    return {"data": [{"name": each.name, "title": each.called} for each in service.providers]}


@operation(
    tag="Sessions",
    answer="object",
    returns=BegunSignOn,
    scope="platform",
    limit="open",
    signed_in=False,
    codes=("NOT_FOUND", "FORBIDDEN", "SERVICE_UNAVAILABLE"),
    max_body=16 * 1024,
)
async def begin_sign_on(
    service: SignOnService, provider: str, body: Beginning, call: FromOrigin, caller: Caller | None
) -> dict[str, object]:
    """Begin to sign in through a provider."""
    to = service.published(provider)
    if not call.origin:
        raise forbidden(
            "wmsd does not know its own address, which the sign-in needs. Ask a platform admin to set "
            "server.public_url."
        )
    try:
        metadata = await to.metadata()
    except NoAnswer as error:
        raise _cannot_be_reached(service, to.provider, error) from None
    back_to = f"{call.origin}/sign-in/{provider}/back"
    had = (None, None) if caller is None else (caller.session_id, caller.actor.user_id)
    begun, kept = service.under_way.begin(provider, back_to, body.next_path, *had, body.stays)
    return {"go_to": exchange.authorization_url(to.provider, metadata, begun), "kept": kept}


@operation(
    tag="Sessions",
    answer="object",
    returns=SignedOn,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    codes=("NOT_FOUND", "UNAUTHORIZED", "FORBIDDEN", "SERVICE_UNAVAILABLE"),
    max_body=32 * 1024,
)
async def finish_sign_on(
    service: SignOnService, provider: str, body: ComingBack, call: FromBrowser
) -> dict[str, object]:
    """Finish signing in through a provider.

    The session that the browser had before the sign-in ends.
    """
    by = service.published(provider)
    begun = service.under_way.end(body.kept, provider, body.state)
    if begun is None:
        raise Problem("UNAUTHORIZED", f"This sign-in was started in another browser, or has expired. {AGAIN}")
    claims = await _claims(service, by, begun, body)
    decision = await service.platform.read(lambda tx: decide_sign_on(tx, by.provider, claims))
    user = _let_in(by.provider, decision)
    if user is None or decision.changes:
        comes = Actor(decision.person.called, address=call.address)
        user = await service.platform.write(
            lambda tx: _settled(tx, by.provider, decide_sign_on(tx, by.provider, claims)), comes
        )
    known = user

    def begin(tx: Transaction) -> str:
        if begun.session_id is not None and begun.user_id is not None:
            sessions.end(tx, begun.session_id, begun.user_id)
        return sessions.sign_in(tx, known.id, known.email, call, by=f" by {provider}")

    actor = Actor(known.email, known.id, address=call.address)
    secret = await service.platform.write(begin, actor, is_quiet=begun.session_id is None)
    return {"secret": secret, "next_path": begun.next_path, "stays": begun.stays}


async def _claims(service: SignOnService, by: Published, begun: SignOn, body: ComingBack) -> Mapping[str, Any]:
    """Return the claims about the user who has come back from the provider. Claims are the provider's data about a
    user.

    Raise Problem: 401 if the ID token is not accepted, 403 if the provider refused the sign-in. The status is 503
    if wmsd cannot reach the provider, or if too many sign-ins are in progress.
    """
    if service.exchanging.locked():
        raise unavailable("Too many people are signing in at the same time. Try again in 5 s.")
    try:
        async with service.exchanging:
            _check_issuer(by.provider, await by.metadata(), body.iss)
            if body.error is not None or not body.code:
                raise forbidden(f"{by.provider.called} refused your sign-in{_code(body.error)}. {AGAIN}")
            claims = await exchange.claims_of(by, begun, body.code)
    except NoAnswer as error:
        raise _cannot_be_reached(service, by.provider, error) from None
    except BadToken as error:
        LOG.warning("a sign-in through %s was refused: the ID token %s", by.provider.name, error)
        raise Problem(
            "UNAUTHORIZED",
            f"wmsd cannot accept the answer of {by.provider.called}: the ID token {error}. {AGAIN} If this "
            "happens again, tell a platform admin.",
        ) from None
    service.complaints.over(_complaint(by.provider))
    return claims


def _check_issuer(provider: Provider, metadata: Metadata, issuer: str | None) -> None:
    """Raise Problem (401) if the issuer in the response is not the issuer of `provider` (RFC 9207).

    Without this check, wmsd could send a code from one provider to another provider.
    """
    if issuer != provider.issuer and (issuer is not None or metadata.names_itself):
        LOG.warning(
            (
                "a sign-in through %s was refused: the answer names the issuer %.200r, "
                "not the issuer in the settings"
            ),
            provider.name,
            issuer,
        )
        raise Problem("UNAUTHORIZED", f"The answer to this sign-in did not come from {provider.called}. {AGAIN}")


def _code(error: str | None) -> str:
    """Return the provider's error code in brackets. If `error` does not look like a code, return "", because a
    longer text could mislead the user.
    """
    is_code = error is not None and error.isascii() and error.replace("_", "").isalpha()
    return f" ({error})" if is_code else ""


def _cannot_be_reached(service: SignOnService, provider: Provider, error: NoAnswer) -> Problem:
    service.complaints.failed(_complaint(provider), error)
    return unavailable(
        f"{provider.called} cannot be used at the moment. Try again, or sign in with a password. The log "
        "of the server shows the reason.",
        10,
    )


def _complaint(provider: Provider) -> str:
    return f"no user can sign in through {provider.name}"


def decide_sign_on(tx: Transaction, provider: Provider, claims: Mapping[str, Any]) -> Decision:
    """Decide which user may sign in with these claims. The decision depends on the users and companies that exist
    now.
    """
    person = person_of(provider, claims)
    linked_id = store.linked_user(tx, provider.issuer, person.subject)
    same_email = None if person.email is None else accounts.user_by_email(tx, person.email)
    known = Known(
        linked=None if linked_id is None else accounts.user_by_id(tx, linked_id),
        same_email=same_email,
        has_other_account=same_email is not None and store.has_account(tx, provider.issuer, same_email.id),
        companies={company.code: company.id for company in companies.every_company(tx)},
    )
    return decide(provider, claims, known)


def _let_in(provider: Provider, decision: Decision) -> User | None:
    """Return the existing user who may sign in. Return None if a new user must be created. Raise Problem (403) if
    the person may not sign in.
    """
    person, refusal = decision.person, decision.refusal
    if refusal is not None:
        LOG.warning(
            "a sign-in through %s was refused: %s (%s, subject %s)",
            *(provider.name, refusal.because, person.called, person.subject),
        )
        raise forbidden(refusal_sentence(provider, decision))
    return decision.user


def _settled(tx: Transaction, provider: Provider, decision: Decision) -> User:
    """Carry out the decision, and return the user. If necessary, create the user, change the user's rights, and
    link the user with the account at the provider.

    Raise Problem (403) if the person may not sign in. Raise the same errors as `_give`.
    """
    user = _let_in(provider, decision) or _new_user(tx, provider, decision)
    if decision.user is not None and decision.rights is not None:
        _give(tx, provider, user, decision.rights)
    if not decision.is_linked:
        invitations.end(tx, user.id)
        store.link(tx, provider.issuer, decision.person.subject, user.id)
        companies.write_audit(tx, f"user.link {provider.name}", user.email)
    return user


def _new_user(tx: Transaction, provider: Provider, decision: Decision) -> User:
    person, rights = decision.person, decision.rights
    assert person.email is not None and rights is not None
    companies.write_audit(tx, f"user.create {rights.role} by {provider.name}", person.email)
    user_id = accounts.insert_user(
        tx,
        email=person.email,
        name=person.name or person.email,
        role=rights.role,
        password_hash=NO_PASSWORD,
        abilities=rights.abilities,
        company_ids=sorted(rights.company_ids),
    )
    return accounts.known_user(tx, user_id)


def _give(tx: Transaction, provider: Provider, user: User, rights: Rights) -> None:
    """Give the user the rights that follow from the provider's rules. Raise Problem (403) if the user is the only
    platform admin and the rules give another role.
    """
    if rights.role != "platform-admin" and errors_of_role(tx, user):
        raise forbidden(
            f"You are the only platform admin, and the rules of the sign-in provider {provider.called} "
            f"would change your role to {rights.role}. Create another platform admin first, or change "
            "the rules."
        )
    set_rights(tx, user, rights.role, rights.abilities, rights.company_ids)
    companies.write_audit(tx, f"user.change {rights.role} by {provider.name}", user.email)


def unlink_user(tx: Transaction, email: str) -> int:
    """Delete the user's links with accounts at providers, and end the user's sessions. Return how many links were
    deleted. Raise Problem (404) if there is no such user.
    """
    user = or_not_found(accounts.user_by_email(tx, email), f"user as {email}")
    ended = store.unlink(tx, user.id)
    sessions.end_all(tx, user.id)
    companies.write_audit(tx, f"user.unlink {ended}", user.email)
    return ended
