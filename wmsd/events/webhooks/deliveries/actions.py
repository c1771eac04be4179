"""The operations of the delivery log: reading deliveries, and sending them again."""

import json
from typing import Any, Final

from wmsd.base.problems import invalid, or_not_found
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import store as subscriptions
from wmsd.events.webhooks.actions import reading, writing
from wmsd.events.webhooks.deliveries import redelivery
from wmsd.events.webhooks.deliveries import store as log
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter
from wmsd.events.webhooks.deliveries.schema import (
    CLOSED_STATUSES,
    Counted,
    Delivery,
    DeliveryDetail,
    DeliveryQuery,
    Redelivered,
    RedeliveryRange,
    records_of,
)
from wmsd.events.webhooks.signing import delivery_headers

MOST_LOOKS: Final = 10
"""The maximum number of reads of the log for one count."""


@reading(answer="cursor", returns=Delivery)
def list_webhook_deliveries(tx: Transaction, id: int, query: DeliveryQuery, position: int) -> CursorPage:
    """List the deliveries of a subscription, the newest first.

    Each delivery has its attempts, the oldest first. Deliveries are kept for 30 days. Open deliveries are kept
    longer.
    """
    subscriptions.columns(tx, id)
    return log.before(tx, id, query, position)


@reading(answer="object", returns=DeliveryDetail)
def get_webhook_delivery(tx: Transaction, id: int, delivery: int) -> dict[str, Any]:
    """Get a delivery with its body.

    The answer also has what each attempt sent and received.
    """
    subscriptions.columns(tx, id)
    found: dict[str, Any] = json.loads(or_not_found(log.detail(tx, id, delivery), "webhook delivery").json)
    for attempt in found["attempts"]:
        if attempt["sent_headers"] is not None and found["event_id"] is not None:
            known = delivery_headers(found["event_id"], found["event"], attempt["number"], found["sequence"])
            attempt["sent_headers"] = {**known, **attempt["sent_headers"]}
    return found


@writing(answer="record", returns=Delivery)
def redeliver_webhook(tx: Transaction, id: int, delivery: int) -> Record:
    """Send a delivery again now.

    The event keeps its id and its body. The delivery gets five new attempts.
    """
    subscriptions.columns(tx, id)
    or_not_found(log.one(tx, id, delivery), "webhook delivery")
    redelivery.send_now(tx, delivery)
    return or_not_found(log.one(tx, id, delivery), "webhook delivery")


@writing(answer="object", returns=Redelivered)
def redeliver_webhook_range(tx: Transaction, id: int, body: RedeliveryRange) -> dict[str, Any]:
    """Send a range of deliveries again.

    Each delivery keeps its id, its sequence and its body, and gets five new attempts. Deliveries about the same
    record are sent in their order. Test deliveries are skipped. One request sends at most 5 000 deliveries again.
    If `next_after` in the answer is not null, repeat the request with this value as `after`.
    """
    subscriptions.columns(tx, id)
    chosen = _range(tx, id, body)
    sent = redelivery.send_range(tx, chosen, body.after or 0)
    return {"deliveries": len(sent.ids), "next_after": sent.last if sent.is_more else None}


@reading(answer="object", returns=Counted)
def count_webhook_range(tx: Transaction, id: int, body: RedeliveryRange) -> dict[str, Any]:
    """Count the deliveries of a range before they are sent again.

    The count stops at 5 000 deliveries, or when many deliveries had to be checked. If the count has stopped early,
    `is_whole` in the answer is false, and there may be more deliveries.
    """
    subscriptions.columns(tx, id)
    chosen = _range(tx, id, body)
    number, is_whole = redelivery.count(tx, chosen, redelivery.AT_ONCE, MOST_LOOKS)
    return {"deliveries": number, "is_whole": is_whole, "until": chosen.until}


def _range(tx: Transaction, id: int, body: RedeliveryRange) -> DeliveryFilter:
    """Return the conditions of the range. Raise Problem if the times are not valid."""
    until = body.until or tx.timestamp
    if until < body.since:
        wrong = (
            ("since", "is in the future") if body.until is None else ("until", "must not be earlier than `since`")
        )
        raise invalid({wrong[0]: [wrong[1]]})
    statuses = redelivery.FAILED if body.failed else CLOSED_STATUSES
    wanted = statuses if body.status is None else tuple(each for each in statuses if each in body.status)
    events = None if body.event is None else tuple(body.event)
    records = None if body.record is None else records_of(body.record)
    return DeliveryFilter(id, wanted, events, records, body.since, until)
