"""The SQL of test receivers, including their deletion when their time is over."""

import json
from datetime import datetime
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.base.vault import Vault
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.events.webhooks import missing_credentials, receiver_rules
from wmsd.events.webhooks import store as subscriptions
from wmsd.events.webhooks.receiver_rules import Answers
from wmsd.events.webhooks.signing import has_valid_signature
from wmsd.events.webhooks.test_receivers.schema import Received

MAKE: Final = "INSERT INTO webhook_receivers (subscription_id, answers, ends_at) VALUES (?, ?, ?)"
ONE: Final = """
    SELECT id, name, json(events) AS events, active, switched_off_because, answers, ends_at, credentials,
        iif(previous_secret_expires_at > :now, previous_secret_expires_at, NULL) AS previous_secret_expires_at,
        (
            SELECT strftime('%Y-%m-%dT%H:%M:%fZ', min(due_at) / 1000.0, 'unixepoch')
            FROM webhook_deliveries INDEXED BY webhook_deliveries_due
            WHERE subscription_id = webhook_subscriptions.id AND due_at IS NOT NULL
        ) AS next_due_at,
        (
            SELECT coalesce(sum(rows), 0) FROM webhook_subscription_counts
            WHERE subscription_id = webhook_subscriptions.id AND status IN ('pending', 'held')
        ) AS waiting
    FROM webhook_receivers JOIN webhook_subscriptions ON id = subscription_id
    WHERE subscription_id = :id
"""
SHOWN: Final = record_sql(
    Received,
    {
        "id": "received.id",
        "event": "received.headers ->> 'X-Webhook-Event'",
        "attempt": "CAST(received.headers ->> 'X-Webhook-Attempt' AS INTEGER)",
        "sequence": "CAST(received.headers ->> 'X-Webhook-Sequence' AS INTEGER)",
        "entity": "own.entity",
        "entity_id": "own.entity_id",
        "age": "unixepoch(received.at) - CAST(received.headers ->> 'webhook-timestamp' AS INTEGER)",
        "is_repeated": """EXISTS (
            SELECT 1 FROM webhook_received AS earlier
            WHERE earlier.subscription_id = received.subscription_id AND earlier.id < received.id
                AND earlier.event_id = received.event_id
        )""",
        "is_overtaken": """EXISTS (
            SELECT 1 FROM webhook_received AS earlier
            JOIN webhook_deliveries AS other ON other.id = earlier.delivery_id
            WHERE earlier.subscription_id = received.subscription_id AND earlier.id < received.id
                AND other.id > own.id AND other.entity = own.entity AND other.entity_id = own.entity_id
        )""",
    },
)
SOURCE: Final = "webhook_received AS received LEFT JOIN webhook_deliveries AS own ON own.id = received.delivery_id"
RECEIVED: Final = f"""
    SELECT json_group_array(json({SHOWN}) ORDER BY received.id DESC) FROM {SOURCE}
    WHERE received.subscription_id = ?
"""
ONE_RECEIVED: Final = f"""
    SELECT {SHOWN}, received.headers, received.body, (
        SELECT credentials FROM webhook_subscriptions WHERE id = received.subscription_id
    )
    FROM {SOURCE}
    WHERE received.subscription_id = ? AND received.id = ?
"""
OVER: Final = "SELECT subscription_id FROM webhook_receivers WHERE ends_at <= ?"


def count(tx: Transaction) -> int:
    return tx.number("SELECT count(*) FROM webhook_receivers")


def insert_receiver(tx: Transaction, subscription_id: int, answers: Answers) -> None:
    tx.execute(MAKE, (subscription_id, answers, timestamps.to_text(tx.now + receiver_rules.LASTS)))


def change(tx: Transaction, subscription_id: int, answers: Answers) -> None:
    tx.execute("UPDATE webhook_receivers SET answers = ? WHERE subscription_id = ?", (answers, subscription_id))


def one(tx: Transaction, subscription_id: int) -> dict[str, Any] | None:
    found = tx.record(ONE, {"id": subscription_id, "now": tx.timestamp})
    if found is None:
        return None
    secret = _secret(tx, found.pop("credentials"))
    shown = {"events": json.loads(found["events"]), "active": bool(found["active"]), "secret": secret}
    return {**found, **shown, "received": json.loads(tx.value(RECEIVED, (subscription_id,)))}


def one_received(tx: Transaction, subscription_id: int, received_id: int) -> dict[str, Any] | None:
    row = tx.row(ONE_RECEIVED, (subscription_id, received_id))
    if row is None:
        return None
    shown, headers, body, credentials = row
    found, sent = json.loads(shown), json.loads(headers)
    secret = _secret(tx, credentials)
    has_signed = secret is not None and has_valid_signature(secret, sent, body)
    return {
        **found,
        "secret": secret if has_signed else None,
        "headers": sent,
        "body": body.decode(errors="replace"),
        "is_cut": len(body) < found["body_bytes"],
    }


def _secret(tx: Transaction, credentials: str) -> str | None:
    return (missing_credentials.opened(tx.service(Vault), credentials) or {}).get("secret")


RECEIVING: Final = """
    SELECT answers, credentials FROM webhook_receivers JOIN webhook_subscriptions ON id = subscription_id
    WHERE subscription_id = ? AND ends_at > ?
"""
KEEP: Final = """
    INSERT INTO webhook_received
        (subscription_id, delivery_id, event_id, at, headers, body, body_bytes, has_valid_signature, answered)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
FORGET: Final = """
    DELETE FROM webhook_received WHERE id IN (
        SELECT id FROM (
            SELECT id, row_number() OVER latest AS place, sum(length(body)) OVER latest AS bytes
            FROM webhook_received WHERE subscription_id = :id WINDOW latest AS (ORDER BY id DESC)
        )
        WHERE place > :kept OR (place > 1 AND bytes > :kept_bytes)
    )
"""


def keep(
    tx: Transaction, subscription_id: int, delivery_id: int, headers: dict[str, str], body: bytes, at: datetime
) -> Answers | None:
    """Store a received request, and delete the oldest requests if there are more than `KEPT` requests or
    `KEPT_BYTES` bytes. Return the configured answer. If the test receiver has ended, store nothing and return
    None.
    """
    row = tx.row(RECEIVING, (subscription_id, tx.timestamp))
    if row is None:
        return None
    answers, credentials = row
    secret = _secret(tx, credentials)
    tx.execute(
        KEEP,
        (
            subscription_id,
            delivery_id,
            headers["webhook-id"],
            timestamps.to_text(at),
            dumps(headers),
            body[: receiver_rules.KEPT_OF_BODY],
            len(body),
            secret is not None and has_valid_signature(secret, headers, body),
            answers,
        ),
    )
    tx.execute(
        FORGET, {"id": subscription_id, "kept": receiver_rules.KEPT, "kept_bytes": receiver_rules.KEPT_BYTES}
    )
    found: Answers = answers
    return found


def end_old(tx: Transaction) -> int:
    """Delete the test receivers whose time is over, with their webhooks. Return how many were deleted."""
    over = [subscription_id for (subscription_id,) in tx.rows(OVER, (tx.timestamp,))]
    for subscription_id in over:
        subscriptions.delete(tx, subscription_id)
    return len(over)
