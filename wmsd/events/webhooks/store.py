"""The SQL of subscriptions. The service switches a subscription off when its deliveries fail for days."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from wmsd.base.problems import or_not_found
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Company
from wmsd.contract.list_queries import ChangesQuery, CursorQuery, PageQuery
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import change_columns, insert_in_order, update_in_order
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.events.webhooks import missing_credentials
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.events.webhooks.rules import off_because
from wmsd.events.webhooks.schema import SHORT_SECRET, Subscription

RECORD: Final = record_sql(
    Subscription,
    {
        "has_secret": "credentials_missing_since IS NULL",
        "previous_secret_expires_at": "iif(previous_secret_expires_at > :now, previous_secret_expires_at, NULL)",
        "warnings": "iif(credentials_missing_since IS NULL, iif(has_short_secret, :warnings_of_short, :warnings), "
        ":warnings_of_missing)",
    },
)
KNOWN: Final = re.compile(r":\w+")
COLUMNS: Final = ("name", "url", "events", "auth_type", "active", "credentials", "has_short_secret")
LISTING: Final = Listing(
    source="webhook_subscriptions",
    order="id",
    filters=conditions(ChangesQuery, updated_since="change_seq > :updated_since"),
    count="webhook_subscriptions",
)
SWITCH_OFF: Final = """
    UPDATE webhook_subscriptions
    SET active = 0, switched_off_at = :now, switched_off_because = :because, is_switch_off_audited = 0,
        changed_at = :now, change_seq = :change_seq, updated_at = :updated_at
    WHERE id = :id AND active
"""


def page(tx: Transaction, query: PageQuery, company: Company) -> Page:
    return LISTING.page(tx, _record(tx, company), query, query.filters())


def after(tx: Transaction, query: CursorQuery, position: int, company: Company) -> CursorPage:
    return LISTING.after(tx, _record(tx, company), query, position, query.filters())


def one(tx: Transaction, id: int, company: Company) -> Record:
    """Return the subscription. Raise Problem (404) if there is no such subscription."""
    text = tx.value(f"SELECT {_record(tx, company)} FROM webhook_subscriptions WHERE id = ?", (id,))
    return Record(id, or_not_found(text, "webhook"))


def _record(tx: Transaction, company: Company) -> str:
    """Return the SQL expression of a subscription's record. It contains values that are not in the table: the
    current time, and warnings for this company.
    """
    because = off_because(company)
    warnings = (
        []
        if because is None
        else [f"{because} Until a platform admin changes this setting, wmsd sends no webhooks."]
    )
    known = {
        ":now": tx.timestamp,
        ":warnings_of_short": dumps([SHORT_SECRET, *warnings]),
        ":warnings_of_missing": dumps([missing_credentials.WARNING, *warnings]),
        ":warnings": dumps(warnings),
    }
    return KNOWN.sub(lambda found: f"'{known[found[0]]}'", RECORD)


COLUMNS_OF_ONE: Final = f"SELECT {', '.join(COLUMNS)} FROM webhook_subscriptions WHERE id = ?"


def columns(tx: Transaction, subscription_id: int) -> dict[str, Any]:
    """Return the subscription's fields as stored. Raise Problem (404) if there is no such subscription."""
    return or_not_found(find_columns(tx, subscription_id), "webhook")


def find_columns(tx: Transaction, subscription_id: int) -> dict[str, Any] | None:
    return tx.record(COLUMNS_OF_ONE, (subscription_id,))


def count(tx: Transaction) -> int:
    return tx.number("SELECT count(*) FROM webhook_subscriptions")


FORGET_TOPICS: Final = "DELETE FROM webhook_topics WHERE subscription_id = ?"
NOTE_TOPICS: Final = """
    INSERT INTO webhook_topics (event, subscription_id)
    SELECT topic.value, subscription.id FROM webhook_subscriptions AS subscription, json_each(events) AS topic
    WHERE subscription.id = ? AND active
"""


def insert(tx: Transaction, values: Mapping[str, object]) -> int:
    subscription_id = insert_in_order(tx, "webhook_subscriptions", {**values, "changed_at": tx.timestamp})
    tx.execute(NOTE_TOPICS, (subscription_id,))
    return subscription_id


def update(tx: Transaction, subscription_id: int, values: Mapping[str, object]) -> None:
    update_in_order(tx, "webhook_subscriptions", subscription_id, {**values, "changed_at": tx.timestamp})
    tx.execute(FORGET_TOPICS, (subscription_id,))
    tx.execute(NOTE_TOPICS, (subscription_id,))


FORGIVE: Final = """
    UPDATE webhook_subscriptions
    SET failing_since = NULL, failing_milliseconds = 0, failing_counted_until = NULL,
        switched_off_at = NULL, switched_off_because = NULL, is_switch_off_audited = 0
    WHERE id = ?
"""


def forgive(tx: Transaction, subscription_id: int) -> None:
    """Delete the stored failures of a subscription, because a user has switched it on again."""
    tx.execute(FORGIVE, (subscription_id,))


DELETE: Final = "DELETE FROM webhook_subscriptions WHERE id = ?"


def delete(tx: Transaction, subscription_id: int) -> None:
    """Delete a subscription. Its deliveries are deleted later (see `retention.py`)."""
    tx.execute(FORGET_TOPICS, (subscription_id,))
    tx.execute(DELETE, (subscription_id,))


ROTATE: Final = """
    UPDATE webhook_subscriptions
    SET credentials = :credentials, has_short_secret = :has_short_secret, previous_secret = :previous_secret,
        previous_secret_expires_at = :expires_at, changed_at = :now, change_seq = :change_seq,
        updated_at = :updated_at
    WHERE id = :id
"""
FORGET_PREVIOUS: Final = """
    UPDATE webhook_subscriptions SET previous_secret = NULL, previous_secret_expires_at = NULL
    WHERE id = ?
"""


def rotate(
    tx: Transaction,
    subscription_id: int,
    credentials: str,
    has_short_secret: bool,
    previous_secret: str,
    expires_at: str,
) -> None:
    """Replace the secret. `credentials` and `previous_secret` are sealed. `has_short_secret` is True if the new
    secret is shorter than recommended. `expires_at` is the time until which deliveries are also signed with the
    previous secret.
    """
    tx.execute(
        ROTATE,
        {
            "credentials": credentials,
            "has_short_secret": has_short_secret,
            "previous_secret": previous_secret,
            "expires_at": expires_at,
            "now": tx.timestamp,
            "id": subscription_id,
            **change_columns(tx),
        },
    )


def forget_previous_secret(tx: Transaction, subscription_id: int) -> None:
    tx.execute(FORGET_PREVIOUS, (subscription_id,))


def has_subscriptions(tx: Transaction) -> bool:
    return bool(tx.value("SELECT EXISTS (SELECT 1 FROM webhook_subscriptions)"))


def switch_off(tx: Transaction, subscription_id: int, because: str) -> None:
    """Switch the subscription off: nothing is sent or queued until a user switches it on again."""
    values = {"now": tx.timestamp, "because": because, "id": subscription_id}
    tx.execute(SWITCH_OFF, {**values, **change_columns(tx)})
    tx.execute(FORGET_TOPICS, (subscription_id,))


SWITCHED_OFF: Final = """
    SELECT id, name, switched_off_because, is_switch_off_audited FROM webhook_subscriptions
    WHERE switched_off_at IS NOT NULL AND NOT active AND url <> ?
"""
NOTE_AUDITED: Final = "UPDATE webhook_subscriptions SET is_switch_off_audited = 1 WHERE id = ?"


class SwitchedOff(NamedTuple):
    """A subscription that wmsd has switched off because of failures. `is_audited` is 1 if the audit already has an
    entry about this, and 0 otherwise.

    Test receivers are not included, because they only simulate a failing receiver.
    """

    id: int
    name: str
    because: str
    is_audited: int


def switched_off(tx: Transaction) -> list[SwitchedOff]:
    return [SwitchedOff(*row) for row in tx.rows(SWITCHED_OFF, (ADDRESS,))]


def note_audited(tx: Transaction, subscription_ids: Iterable[int]) -> None:
    tx.executemany(NOTE_AUDITED, [(subscription_id,) for subscription_id in subscription_ids])
