"""The table of all root fields. The schema, the checks and the answers are derived from this table."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.events.outbox import actions as outbox
from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as deliveries
from wmsd.events.webhooks.deliveries.schema import Attempt, Delivery
from wmsd.events.webhooks.schema import Subscription, SubscriptionChanges, SubscriptionFields
from wmsd.server.webhook_sender import test_webhook
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.articles.schema import Article
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.packaging import actions as packaging
from wmsd.warehouse.stock import actions as stock
from wmsd.warehouse.stock.schema import DetailedStockRecord


@dataclass(frozen=True, slots=True)
class Field:
    """A root field. `renamed` maps an argument to its REST parameter if their names differ."""

    name: str
    operation: Operation
    renamed: Mapping[str, str] = field(default_factory=dict)


QUERIES: Final = (
    Field("article", articles.get_article),
    Field("articles", articles.walk_articles),
    Field("article_changes", articles.sync_articles),
    Field("stock", stock.walk_stock),
    *(
        field
        for kind in DOCUMENTS
        for field in (
            Field(kind.table.entity, kind.reading.one),
            Field(kind.table.name, kind.reading.by_cursor),
        )
    ),
    Field("client", directory.get_client),
    Field("clients", directory.walk_clients),
    Field("partner", directory.get_partner),
    Field("partners", directory.walk_partners),
    Field("warehouse", directory.get_warehouse),
    Field("warehouses", directory.walk_warehouses),
    Field("packaging_types", packaging.walk_packaging_types),
    Field("packaging_balances", packaging.walk_packaging_balances),
    Field("packaging_movements", packaging.walk_packaging_movements),
    Field("webhook", webhooks.get_webhook),
    Field("webhooks", webhooks.walk_webhooks),
    Field("webhook_deliveries", deliveries.list_webhook_deliveries),
    Field("events", outbox.list_events, {"after_event": "after"}),
)
MUTATIONS: Final = tuple(
    Field(operation.name, operation)
    for operation in (
        articles.create_article,
        articles.replace_article,
        articles.update_article,
        articles.update_article_by_code,
        *(operation for kind in DOCUMENTS for operation in kind.writing.operations),
        webhooks.create_webhook,
        webhooks.replace_webhook,
        webhooks.update_webhook,
        webhooks.delete_webhook,
        webhooks.rotate_webhook_secret,
        deliveries.redeliver_webhook,
        deliveries.redeliver_webhook_range,
        test_webhook,
    )
)


@dataclass(frozen=True, slots=True)
class Collection:
    """A field of a record that contains a list of other records, such as the `stock` of an article.

    The records in the list refer to this record: their field `id_field` has its id. `find` is the operation that
    returns the list. `first` is the length of the list if the document does not say how many records it wants.
    """

    of: type[BaseModel]
    name: str
    find: Operation
    id_field: str
    first: int


COLLECTIONS: Final = (Collection(Article, "stock", stock.find_stock_of_articles, "article_id", 10),)
DETAIL: Final = "lots"
"""A value of the REST parameter `detail`. If a request has this value, a record also has fields such as its lots.
"""
TYPE_NAMES: Final[Mapping[type[BaseModel], str]] = {
    DetailedStockRecord: "StockRecord",
    Subscription: "Webhook",
    Delivery: "WebhookDelivery",
    Attempt: "WebhookAttempt",
    SubscriptionFields: "WebhookFields",
    SubscriptionChanges: "WebhookChanges",
}
"""The names of the GraphQL types of some models. For a model that is not listed, the type has the model's name."""
