"""The doctor's checks of subscriptions and deliveries."""

from typing import Final

from wmsd.contract.invariants import Check

DELIVERY: Final = "webhook delivery {delivery}"
SUBSCRIPTION: Final = "webhook subscription {subscription}"
DELIVERIES: Final = "webhook subscription {subscription}, deliveries that are {status}"
OPEN_BEFORE, NONE = "an earlier open webhook delivery", "none"
IS_SEAM: Final = """EXISTS (
    SELECT 1 FROM seams
    WHERE numbers = 'webhook_subscriptions/' || {subscription} AND last = {last} AND next = {next}
)"""
"""The SQL condition for an intended gap between the sequence numbers `last` and `next`. wmsd skips numbers when a
new epoch begins (`db/sql/epochs.py`).
"""
GAPS: Final = f"""
    SELECT 'webhook delivery ' || id, before + 1, sequence FROM (
        SELECT id, subscription_id, sequence,
            lag(sequence) OVER (PARTITION BY subscription_id ORDER BY id) AS before
        FROM webhook_deliveries
    )
    WHERE before IS NOT NULL AND sequence != before + 1
        AND NOT {IS_SEAM.format(subscription="subscription_id", last="before", next="sequence")}
"""
LAST: Final = f"""
    SELECT 'webhook subscription ' || id, newest, given FROM (
        SELECT subscription.id, last_sequence AS given, max(delivery.sequence) AS newest
        FROM webhook_subscriptions AS subscription
        JOIN webhook_deliveries AS delivery ON delivery.subscription_id = subscription.id
        GROUP BY subscription.id
    )
    WHERE given != newest AND NOT {IS_SEAM.format(subscription="id", last="newest", next="given + 1")}
"""
STUCK: Final = f"""
    SELECT 'webhook delivery ' || held.id, '{OPEN_BEFORE}', '{NONE}'
    FROM webhook_deliveries AS held INDEXED BY webhook_deliveries_open
    WHERE held.status IN ('pending', 'held') AND held.status = 'held'
        AND held.subscription_id IN (SELECT id FROM webhook_subscriptions) AND NOT EXISTS (
        SELECT 1 FROM webhook_deliveries AS earlier INDEXED BY webhook_deliveries_open
        WHERE earlier.subscription_id = held.subscription_id AND earlier.entity = held.entity
            AND earlier.entity_id = held.entity_id AND earlier.id < held.id
            AND earlier.status IN ('pending', 'held')
    )
"""
ATTEMPTS: Final = """
    SELECT 'webhook delivery ' || delivery.id, delivery.attempts, count(attempt.number)
    FROM webhook_deliveries AS delivery
    LEFT JOIN webhook_attempts AS attempt ON attempt.delivery_id = delivery.id
    GROUP BY delivery.id HAVING delivery.attempts != count(attempt.number)
"""
TOPICS: Final = """
    SELECT 'webhook subscription ' || id, wanted, found FROM (
        SELECT subscription.id,
            iif(active, (SELECT group_concat(value, ',' ORDER BY value) FROM json_each(events)), NULL) AS wanted,
            (
                SELECT group_concat(event, ',' ORDER BY event) FROM webhook_topics
                WHERE subscription_id = subscription.id
            ) AS found
        FROM webhook_subscriptions AS subscription
    )
    WHERE wanted IS NOT found
"""
COUNTS: Final = """
    SELECT 'webhook subscription ' || subscription_id || ', deliveries that are ' || status,
        sum(counted), sum(kept)
    FROM (
        SELECT subscription_id, status, count(*) AS counted, 0 AS kept FROM webhook_deliveries
        GROUP BY subscription_id, status
        UNION ALL
        SELECT subscription_id, status, 0, rows FROM webhook_subscription_counts
    )
    GROUP BY subscription_id, status HAVING sum(counted) != sum(kept)
"""
CHECKS: Final = (
    Check(
        "the webhook deliveries of a subscription must be numbered without gaps",
        GAPS,
        in_millionths=False,
        words=(DELIVERY,),
    ),
    Check(
        "the last delivery number stored in a webhook subscription must be the number of its newest delivery",
        LAST,
        in_millionths=False,
        words=(SUBSCRIPTION,),
    ),
    Check(
        "a webhook delivery that waits for an earlier one must have an earlier delivery of the same record "
        "that is still to be sent",
        STUCK,
        in_millionths=False,
        words=(DELIVERY, OPEN_BEFORE, NONE),
    ),
    Check(
        "the log must have every attempt of a webhook delivery", ATTEMPTS, in_millionths=False, words=(DELIVERY,)
    ),
    Check(
        "every active webhook subscription must get its own events, and no others",
        TOPICS,
        in_millionths=False,
        words=(SUBSCRIPTION,),
    ),
    Check(
        "the stored counts of a webhook subscription must equal the real numbers of its deliveries",
        COUNTS,
        in_millionths=False,
        words=(DELIVERIES,),
    ),
)
