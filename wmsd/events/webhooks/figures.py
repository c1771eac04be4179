"""The figures of each webhook subscription. They come from stored counts, so wmsd does not read the log."""

from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field

from wmsd.contract.fields import Id, Model, Timestamp
from wmsd.contract.results import Text
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.events.outbox.events import TEST_EVENT
from wmsd.events.webhooks.actions import reading
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.events.webhooks.rules import hour

A_DAY: Final = timedelta(days=1)
MOST_TESTS: Final = 1000
"""The maximum number of tests that are counted for a subscription. It is limited because users can send any
number.
"""


class SubscriptionFigures(Model):
    """The figures of a webhook subscription. `succeeded` and `failed` count attempts of the last day. All other
    numbers count deliveries in the log.
    """

    id: Id
    is_test_receiver: bool
    last_success_at: Timestamp | None
    credentials_missing_since: Annotated[
        Timestamp | None,
        Field(description="Since when the pending deliveries wait for credentials; null if they do not wait."),
    ]
    pending: int
    held: int
    exhausted: Annotated[int, Field(description="The number of exhausted deliveries, without tests.")]
    skipped: int
    succeeded: int
    failed: int


class Figures(Model):
    data: Annotated[
        list[SubscriptionFigures], Field(description="The numbers of every webhook subscription of the company.")
    ]


def _deliveries(status: str) -> str:
    return f"""coalesce((
        SELECT rows FROM webhook_subscription_counts
        WHERE subscription_id = subscription.id AND status = '{status}'
    ), 0)"""


def failed_tests(subscription_id: str) -> str:
    """Return the SQL that counts failed tests among the latest tests of a subscription. `subscription_id` is the
    SQL of the subscription's id.

    Both failed tests and lost events have the status `exhausted`. With this count, the figures leave out the
    tests.
    """
    return f"""(
        SELECT count(*) FROM (
            SELECT status FROM webhook_deliveries INDEXED BY webhook_deliveries_by_event
            WHERE subscription_id = {subscription_id} AND event = '{TEST_EVENT}'
            ORDER BY created_at DESC LIMIT {MOST_TESTS}
        ) WHERE status = 'exhausted'
    )"""


def _attempts(column: str) -> str:
    return f"""coalesce((
        SELECT sum({column}) FROM webhook_hours
        WHERE subscription_id = subscription.id AND hour > :since AND hour <= :until
    ), 0)"""


RECORD: Final = record_sql(
    SubscriptionFigures,
    {
        "is_test_receiver": f"url = '{ADDRESS}'",
        **{status: _deliveries(status) for status in ("pending", "held", "skipped")},
        "exhausted": f"max(0, {_deliveries('exhausted')} - {failed_tests('subscription.id')})",
        **{column: _attempts(column) for column in ("succeeded", "failed")},
    },
)
FIGURES: Final = f"""
    SELECT json_object('data', json_group_array(json({RECORD}) ORDER BY id))
    FROM webhook_subscriptions AS subscription
"""


@reading(answer="object", returns=Figures)
def list_webhook_figures(tx: Transaction) -> Text:
    """List the figures of all webhook subscriptions."""
    parameters: dict[str, Any] = {"since": hour(tx.now - A_DAY), "until": hour(tx.now)}
    return Text(tx.value(FIGURES, parameters))
