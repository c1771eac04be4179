"""The SQL of the log: deliveries with their attempts."""

from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.joined_records import number_that_fits
from wmsd.db.sql.records import record_sql
from wmsd.events.webhooks.deliveries import filters
from wmsd.events.webhooks.deliveries.due_store import EPOCH_OF, SENT_BODY, SEQUENCE_GAP
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter
from wmsd.events.webhooks.deliveries.schema import (
    MOST_ATTEMPTS,
    Attempt,
    AttemptDetail,
    Delivery,
    DeliveryDetail,
    DeliveryQuery,
)

ANSWER: Final = {"response_status": "status", "response_body": "answer"}
EVENT: Final = "coalesce(events.{0}, delivery.test_event ->> '{0}')"
COLUMNS: Final = {
    "id": "delivery.id",
    "sequence": "delivery.sequence",
    "entity": "delivery.entity",
    "entity_id": "delivery.entity_id",
    "event_id": EVENT.format("id"),
    "event": EVENT.format("event"),
    "epoch": EPOCH_OF,
    "sequence_gap": SEQUENCE_GAP,
    "waits_because": """iif(delivery.status IN ('pending', 'held') AND (
        SELECT credentials_missing_since FROM webhook_subscriptions WHERE id = delivery.subscription_id
    ) IS NOT NULL, 'credentials_missing', NULL)""",
    "due_at": "strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch')",
}
ATTEMPTS: Final = """(
    SELECT json_group_array({} ORDER BY number) FROM webhook_attempts WHERE delivery_id = delivery.id
)"""
LAST_ATTEMPTS: Final = f"""(
    SELECT json_group_array({{}} ORDER BY number) FROM (
        SELECT * FROM webhook_attempts WHERE delivery_id = delivery.id ORDER BY number DESC LIMIT {MOST_ATTEMPTS}
    )
)"""
RECORD: Final = record_sql(Delivery, {**COLUMNS, "attempts": ATTEMPTS.format(record_sql(Attempt, ANSWER))})
DETAIL: Final = record_sql(
    DeliveryDetail,
    {
        **COLUMNS,
        "body": SENT_BODY,
        "made": "delivery.attempts",
        "attempts": LAST_ATTEMPTS.format(record_sql(AttemptDetail, ANSWER)),
    },
)
SOURCE: Final = "webhook_deliveries AS delivery LEFT JOIN events ON events.sequence = delivery.event_sequence"
FOUND: Final = f"""
    SELECT {RECORD} FROM {SOURCE} WHERE delivery.id IN (SELECT value FROM json_each(?))
    ORDER BY delivery.created_at DESC, delivery.id DESC
"""


def before(tx: Transaction, subscription_id: int, query: DeliveryQuery, position: int) -> CursorPage:
    """Return the deliveries before the position, the newest first. Position 0 is the end of the log.

    A page may have fewer records than requested, or may be empty, although more deliveries follow.
    """
    wanted = DeliveryFilter(subscription_id, query.status, query.event, query.record, query.since, query.until)
    found = filters.newest(tx, wanted, position, query.per_page)
    texts = [text for (text,) in tx.rows(FOUND, (dumps(found.ids),))]
    shown = number_that_fits(texts)
    ids = found.ids[:shown]
    is_cut = shown < len(texts)
    end = ids[-1] if is_cut else found.last
    return CursorPage(",".join(texts[:shown]), end, is_cut or found.is_more, ",".join(map(str, ids)))


COUNTS: Final = """
    SELECT subscription_id, sum(rows) FILTER (WHERE status IN ('pending', 'held')),
        sum(rows) FILTER (WHERE status = 'exhausted')
    FROM webhook_subscription_counts GROUP BY subscription_id
"""


def counts(tx: Transaction) -> dict[int, tuple[int, int]]:
    """Return the numbers of open and of exhausted deliveries, by subscription id."""
    return {
        subscription_id: (open_ones or 0, exhausted or 0)
        for subscription_id, open_ones, exhausted in tx.rows(COUNTS)
    }


ONE: Final = f"SELECT {RECORD} FROM {SOURCE} WHERE delivery.subscription_id = ? AND delivery.id = ?"
ONE_IN_DETAIL: Final = f"SELECT {DETAIL} FROM {SOURCE} WHERE delivery.subscription_id = ? AND delivery.id = ?"


def one(tx: Transaction, subscription_id: int, delivery_id: int) -> Record | None:
    text = tx.value(ONE, (subscription_id, delivery_id))
    return None if text is None else Record(delivery_id, text)


def detail(tx: Transaction, subscription_id: int, delivery_id: int) -> Record | None:
    """Return the delivery with its body, and with what each attempt sent and received. Return None if there is no
    such delivery.
    """
    text = tx.value(ONE_IN_DETAIL, (subscription_id, delivery_id))
    return None if text is None else Record(delivery_id, text)
