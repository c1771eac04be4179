"""How subscriptions fare, in figures that are kept: nobody reads the log for them."""

from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field

from wmsd.base.fields import Id, Model, Timestamp
from wmsd.base.results import Text
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.webhooks.actions import reading
from wmsd.webhooks.receiving.rules import ADDRESS
from wmsd.webhooks.rules import hour

A_DAY: Final = timedelta(days=1)


class SubscriptionFigures(Model):
    """`succeeded` and `failed` are attempts of the last day; the others are deliveries in the log."""

    id: Id
    is_test_receiver: bool
    last_success_at: Timestamp | None
    pending: int
    held: int
    exhausted: int
    skipped: int
    succeeded: int
    failed: int


class Figures(Model):
    data: Annotated[list[SubscriptionFigures], Field(description="Of every subscription of the company.")]


def _deliveries(status: str) -> str:
    return f"""coalesce((
        SELECT rows FROM webhook_subscription_counts
        WHERE subscription_id = subscription.id AND status = '{status}'
    ), 0)"""


def _attempts(column: str) -> str:
    return f"""coalesce((
        SELECT sum({column}) FROM webhook_hours
        WHERE subscription_id = subscription.id AND hour > :since AND hour <= :until
    ), 0)"""


RECORD: Final = record_sql(
    SubscriptionFigures,
    {
        "is_test_receiver": f"url = '{ADDRESS}'",
        **{status: _deliveries(status) for status in ("pending", "held", "exhausted", "skipped")},
        **{column: _attempts(column) for column in ("succeeded", "failed")},
    },
)
FIGURES: Final = f"""
    SELECT json_object('data', json_group_array(json({RECORD}) ORDER BY id))
    FROM webhook_subscriptions AS subscription
"""


@reading(answer="object", returns=Figures)
def list_webhook_figures(tx: Transaction) -> Text:
    """List how the subscriptions fare."""
    parameters: dict[str, Any] = {"since": hour(tx.now - A_DAY), "until": hour(tx.now)}
    return Text(tx.value(FIGURES, parameters))
