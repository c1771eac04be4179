"""The SQL of the log: deliveries with their attempts."""

from typing import Final

from wmsd.base.results import CursorPage, Record
from wmsd.db.listing import conditions, fitting
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.webhooks.schema import Attempt, Delivery, DeliveryQuery

ATTEMPT: Final = record_sql(Attempt, {"response_status": "status", "response_body": "answer"})
EVENT: Final = "coalesce(events.{0}, delivery.test_event ->> '{0}')"
RECORD: Final = record_sql(
    Delivery,
    {
        "id": "delivery.id",
        "sequence": "delivery.sequence",
        "entity_id": "delivery.entity_id",
        "event_id": EVENT.format("id"),
        "event": EVENT.format("event"),
        "due_at": "strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch')",
        "attempts": f"""(
            SELECT json_group_array({ATTEMPT} ORDER BY number) FROM webhook_attempts
            WHERE delivery_id = delivery.id
        )""",
    },
)
SOURCE: Final = "webhook_deliveries AS delivery LEFT JOIN events ON events.sequence = delivery.event_sequence"
FILTERS: Final = conditions(
    DeliveryQuery,
    status="delivery.status IN (SELECT value FROM json_each(:status))",
    since="delivery.created_at >= :since",
)


def before(tx: Transaction, subscription_id: int, query: DeliveryQuery, position: int) -> CursorPage:
    """The deliveries before the position, the newest first; position 0 is the end of the log."""
    values = query.filters()
    if "status" in values:
        values["status"] = "[" + ",".join(f'"{status}"' for status in query.status or ()) + "]"
    own = "delivery.subscription_id = :subscription_id", "delivery.id < :position"
    where = " AND ".join([*own, *(FILTERS[name] for name in values)])
    found = tx.rows(
        f"SELECT delivery.id, {RECORD} FROM {SOURCE} WHERE {where} ORDER BY delivery.id DESC LIMIT :limit",
        {
            **values,
            "subscription_id": subscription_id,
            "position": position or 2**62,
            "limit": query.per_page + 1,
        },
    )
    page = found[: fitting([text for _, text in found[: query.per_page]])]
    records, positions = (",".join(texts) for texts in ([text for _, text in page], [str(id) for id, _ in page]))
    return CursorPage(records, page[-1][0] if page else position, len(found) > len(page), positions)


COUNTS: Final = """
    SELECT subscription_id, sum(status IN ('pending', 'held')), sum(status = 'exhausted')
    FROM webhook_deliveries GROUP BY subscription_id
"""


def counts(tx: Transaction) -> dict[int, tuple[int, int]]:
    """Counts open and exhausted deliveries by subscription. It reads the whole log."""
    return {subscription_id: (open_ones, exhausted) for subscription_id, open_ones, exhausted in tx.rows(COUNTS)}


ONE: Final = f"SELECT {RECORD} FROM {SOURCE} WHERE delivery.subscription_id = ? AND delivery.id = ?"


def one(tx: Transaction, subscription_id: int, delivery_id: int) -> Record | None:
    text = tx.value(ONE, (subscription_id, delivery_id))
    return None if text is None else Record(delivery_id, text)
