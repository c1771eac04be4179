"""Webhooks whose credentials this installation cannot open, for example after a restore without the keys.

When wmsd finds such a subscription, it stores the time in the subscription. From that time on, the deliveries of
the subscription wait and use up no attempts. When the credentials are set again, the deliveries are sent in their
order.
"""

import json
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from wmsd.base.strict_json import dumps
from wmsd.base.vault import Vault
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.receiver_rules import ADDRESS, new_secret

WARNING: Final = (
    "wmsd can no longer decrypt the credentials of this webhook. Set the credentials again: until then, its "
    "deliveries wait, and waiting does not count as an attempt."
)
NOT_SENT: Final = (
    "wmsd can no longer decrypt the credentials of this webhook. Set the credentials again, then send the test."
)


class MissingCredentials(NamedTuple):
    """A subscription whose credentials must be set again. `host` is the host of its receiver."""

    subscription_id: int
    name: str
    host: str
    since: str


SEALED: Final = "SELECT id, url, credentials, credentials_missing_since FROM webhook_subscriptions"
NOTE: Final = """
    UPDATE webhook_subscriptions SET credentials_missing_since = :now
    WHERE id = :id AND credentials = :credentials AND credentials_missing_since IS NULL
"""
RENEW: Final = """
    UPDATE webhook_subscriptions
    SET credentials = :renewed, previous_secret = NULL, previous_secret_expires_at = NULL,
        credentials_missing_since = NULL
    WHERE id = :id AND credentials = :credentials
"""
OVER: Final = """
    UPDATE webhook_subscriptions
    SET credentials_missing_since = NULL, failing_counted_until = iif(failing_since IS NULL, NULL, :now)
    WHERE id = :id AND credentials_missing_since IS NOT NULL
"""
MISSING: Final = """
    SELECT id, name, url, credentials_missing_since FROM webhook_subscriptions
    WHERE credentials_missing_since IS NOT NULL ORDER BY id
"""


def opened(vault: Vault, sealed: str) -> dict[str, Any] | None:
    """Return the credentials. Return None if they were sealed with another key and must be set again."""
    text = vault.unseal(sealed)
    return None if text is None else dict(json.loads(text))


def note(tx: Transaction, subscription_id: int, url: str, credentials: str) -> None:
    """Store that the subscription's credentials cannot be opened. `credentials` are the sealed credentials that
    could not be opened. Do nothing if the subscription no longer has these credentials.

    If the subscription is a test receiver, store a new secret for it instead. Only wmsd itself uses the secret of
    a test receiver.
    """
    given = {"id": subscription_id, "credentials": credentials}
    if url == ADDRESS:
        renewed = tx.service(Vault).seal(dumps({"secret": new_secret()}))
        tx.execute(RENEW, {**given, "renewed": renewed})
    else:
        tx.execute(NOTE, {**given, "now": tx.timestamp})


def over(tx: Transaction, subscription_id: int) -> None:
    """Store that the credentials were set again. The time without credentials does not count as failing time."""
    tx.execute(OVER, {"id": subscription_id, "now": tx.timestamp})


def note_missing_credentials(tx: Transaction) -> None:
    """Try to open the credentials of every subscription, and store which cannot be opened."""
    vault = tx.service(Vault)
    for subscription_id, url, credentials, since in tx.rows(SEALED):
        if opened(vault, credentials) is None:
            note(tx, subscription_id, url, credentials)
        elif since is not None:
            over(tx, subscription_id)


def missing(tx: Transaction) -> list[MissingCredentials]:
    """Return the subscriptions whose credentials must be set again."""
    return [
        MissingCredentials(subscription_id, name, urlsplit(url).netloc.lower(), since)
        for subscription_id, name, url, since in tx.rows(MISSING)
    ]
