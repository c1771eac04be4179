"""The operations of webhook subscriptions."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from wmsd.base import timestamps
from wmsd.base.problems import FieldErrors, Problem, invalid, refuse_errors
from wmsd.base.strict_json import dumps
from wmsd.base.vault import Vault
from wmsd.contract.context import Company
from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import column_values
from wmsd.events.webhooks import missing_credentials, receiver_rules, rules, store
from wmsd.events.webhooks.schema import (
    AuthType,
    NewSecret,
    Subscription,
    SubscriptionChanges,
    SubscriptionCursorQuery,
    SubscriptionFields,
    SubscriptionQuery,
)
from wmsd.http_client.guard import Guard
from wmsd.http_client.urls import header_errors, url_errors

Sent = Mapping[str, Any]
"""The fields of a body. A field whose format is wrong is None."""

reading = partial(operation, tag="Webhooks", module="webhooks", ability="webhooks:read")
writing = partial(operation, tag="Webhooks", module="webhooks", ability="webhooks:write", writes=True)


def _changes_errors(tx: Transaction, sent: Sent, named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of the URL and of the credentials in `sent`. wmsd calls this function for a body that also
    has format errors, so that the answer names all errors.

    `named` has the `id` of the subscription to change, and is empty for a new subscription.
    """
    current = store.find_columns(tx, named["id"]) if "id" in named else None
    if current is None and "id" in named:
        return
    url, auth_type = sent.get("url"), sent.get("auth_type", current and current["auth_type"])
    errors: FieldErrors = {}
    if current is not None and current["url"] == receiver_rules.ADDRESS:
        errors = receiver_rules.change_errors({name: value for name, value in sent.items() if value is not None})
    else:
        errors |= {} if url is None else _url_errors(tx, current, url)
        if auth_type is not None:
            errors |= _credentials(tx, current, auth_type, sent).errors
    yield from (invalid_field(path, sentence) for path, sentences in errors.items() for sentence in sentences)


def _whole_errors(tx: Transaction, sent: Sent, named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors as `_changes_errors` does. If `sent` has no `auth_type`, use its default."""
    default = SubscriptionFields.model_fields["auth_type"].default
    return _changes_errors(tx, {"auth_type": default, **sent}, named)


@reading(answer="page", returns=Subscription)
def list_webhooks(tx: Transaction, query: SubscriptionQuery, company: Company) -> Page:
    """List webhook subscriptions."""
    return store.page(tx, query, company)


@reading(answer="cursor", returns=Subscription)
def walk_webhooks(tx: Transaction, query: SubscriptionCursorQuery, position: int, company: Company) -> CursorPage:
    """List webhook subscriptions by cursor."""
    return store.after(tx, query, position, company)


@reading(answer="record", returns=Subscription)
def get_webhook(tx: Transaction, id: int, company: Company) -> Record:
    """Get a webhook subscription."""
    return store.one(tx, id, company)


def check_subscription_limit(tx: Transaction) -> None:
    """Raise Problem if the company already has the highest allowed number of subscriptions."""
    if store.count(tx) >= rules.MOST_SUBSCRIPTIONS:
        raise Problem(
            "VALIDATION_FAILED",
            f"A company can have at most {rules.MOST_SUBSCRIPTIONS} webhook subscriptions. Delete one first.",
        )


@writing(answer="record", returns=Subscription, creates=True, audited="webhook.create", references=_whole_errors)
def create_webhook(tx: Transaction, body: SubscriptionFields, company: Company) -> Record:
    """Subscribe to events.

    Send the credentials that `auth_type` needs: `secret`, `token`, `username` and `password`, or `headers`. wmsd
    encrypts the credentials and never returns them.
    """
    check_subscription_limit(tx)
    return store.one(tx, store.insert(tx, _checked(tx, None, body.model_dump())), company)


@writing(
    answer="record",
    returns=Subscription,
    precondition=store.one,
    audited="webhook.change",
    references=_whole_errors,
)
def replace_webhook(tx: Transaction, id: int, body: SubscriptionFields, company: Company) -> Record:
    """Replace a webhook subscription.

    A field that is not sent takes its default. Credentials are the exception: they stay as long as `auth_type`
    stays.
    """
    return _change(tx, id, body.model_dump(), company)


@writing(
    answer="record",
    returns=Subscription,
    precondition=store.one,
    audited="webhook.change",
    references=_changes_errors,
)
def update_webhook(tx: Transaction, id: int, body: SubscriptionChanges, company: Company) -> Record:
    """Change some fields of a webhook subscription.

    A new `auth_type` needs its credentials in the same request. To replace a secret without interruption, use
    rotate-secret in version 2.
    """
    return _change(tx, id, body.given(), company)


def _change(tx: Transaction, id: int, given: Mapping[str, Any], company: Company) -> Record:
    current = store.columns(tx, id)
    if current["url"] == receiver_rules.ADDRESS:
        refuse_errors(receiver_rules.change_errors(given))
    values = _checked(tx, current, given)
    if "active" in given and not current["active"]:
        store.forgive(tx, id)
    if values != current:
        store.update(tx, id, values)
        if values["credentials"] != current["credentials"]:
            store.forget_previous_secret(tx, id)
            missing_credentials.over(tx, id)
    return store.one(tx, id, company)


def _checked(tx: Transaction, current: Mapping[str, Any] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns to store: those in `current`, changed by the fields in `given`. For a new subscription,
    `current` is None. Raise Problem with all errors.
    """
    fields = column_values({name: given[name] for name in store.COLUMNS if name in given})
    values = {**(current or {}), **fields}
    kept, found, errors = _credentials(tx, current, values["auth_type"], given)
    refuse_errors(_url_errors(tx, current, values["url"]) | errors)
    if found is not None and found != kept:
        values |= {"credentials": tx.service(Vault).seal(dumps(found)), "has_short_secret": rules.is_short(found)}
    return values


def _url_errors(tx: Transaction, current: Mapping[str, Any] | None, url: str) -> FieldErrors:
    """Return the errors of the URL. Do not check a URL that stays the same."""
    wrong = [] if url == (current or {}).get("url") else url_errors(url, tx.service(Guard))
    return {"url": wrong} if wrong else {}


class _Credentials(NamedTuple):
    kept: dict[str, Any] | None
    """The current credentials of the subscription. None if `auth_type` changes, if wmsd cannot unseal the
    credentials, or if the subscription is new.
    """
    found: dict[str, Any] | None
    """The credentials to store. None if the stored credentials stay although wmsd cannot unseal them."""
    errors: FieldErrors


def _credentials(
    tx: Transaction, current: Mapping[str, Any] | None, auth_type: AuthType, given: Sent
) -> _Credentials:
    kept, may_stay = None, False
    if current is not None and current["auth_type"] == auth_type:
        kept = missing_credentials.opened(tx.service(Vault), current["credentials"])
        # Credentials that cannot be unsealed stay as they are, so that the subscription can still be switched off.
        may_stay = kept is None and all(given.get(name) is None for name in rules.EVERY_CREDENTIAL)
    found, errors = (kept, {}) if may_stay else rules.credentials(auth_type, given, kept)
    headers = {name: value for name, value in (given.get("headers") or {}).items() if value is not None}
    errors |= {
        f"headers.{name}" if name else "headers": sentences for name, sentences in header_errors(headers).items()
    }
    return _Credentials(kept, found, errors)


@writing(answer="record", returns=Subscription, audited="webhook.switch_on")
def switch_on_webhook(tx: Transaction, id: int, company: Company) -> Record:
    """Switch a webhook subscription on again.

    The subscription's earlier failures are forgotten.
    """
    return _change(tx, id, {"active": True}, company)


@writing(answer="nothing", precondition=store.one, audited="webhook.delete")
def delete_webhook(tx: Transaction, id: int, company: Company) -> None:
    """Delete a webhook subscription.

    Queued deliveries are not sent any more, and the log of the subscription is deleted.
    """
    store.one(tx, id, company)
    store.delete(tx, id)


@writing(answer="record", returns=Subscription, precondition=store.one, audited="webhook.rotate-secret")
def rotate_webhook_secret(tx: Transaction, id: int, body: NewSecret, company: Company) -> Record:
    """Replace the secret without interruption.

    For 24 hours `webhook-signature` has two signatures: one with the new secret and one with the old secret.
    X-Webhook-Signature has only one signature: with the new secret, from now on.
    """
    current = store.columns(tx, id)
    if current["url"] == receiver_rules.ADDRESS:
        raise invalid({"secret": [receiver_rules.OWN_SECRET]})
    if current["auth_type"] != "hmac":
        raise invalid({"secret": [f"cannot be used with auth_type {current['auth_type']}"]})
    before = missing_credentials.opened(tx.service(Vault), current["credentials"])
    if before is None:
        raise invalid(
            {
                "secret": [
                    "cannot be rotated, because wmsd cannot decrypt the current secret; set the new "
                    "secret by PATCH"
                ]
            }
        )
    if before["secret"] != body.secret:
        rotate_secret(tx, id, before["secret"], body.secret)
    return store.one(tx, id, company)


def rotate_secret(tx: Transaction, id: int, before: str, secret: str) -> None:
    """Replace the secret `before` with `secret`. For 24 hours, deliveries are also signed with `before`."""
    vault = tx.service(Vault)
    after = {"secret": secret}
    store.rotate(
        tx,
        id,
        credentials=vault.seal(dumps(after)),
        has_short_secret=rules.is_short(after),
        previous_secret=vault.seal(before),
        expires_at=timestamps.to_text(tx.now + rules.ROTATION),
    )
