"""The records of a company that the pages list and show."""

from collections.abc import Mapping
from typing import Final

from wmsd.contract.operation import Operation
from wmsd.events.outbox import actions as outbox
from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.receiver_rules import ADDRESS as RECEIVER_ADDRESS
from wmsd.events.webhooks.receiver_rules import new_secret
from wmsd.events.webhooks.rules import CREDENTIALS
from wmsd.events.webhooks.test_receivers.actions import make_webhook_receiver
from wmsd.imports import actions as imports
from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.interfaces.pages.kit.document_acts import DOCUMENT_RESOURCES
from wmsd.interfaces.pages.kit.fields import REFERRING
from wmsd.server.webhook_sender import test_webhook
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.counts.actions import create_count
from wmsd.warehouse.counts.record_count import count_stock
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.directory import directory_administration
from wmsd.warehouse.packaging import actions as packaging
from wmsd.warehouse.packaging import packaging_administration
from wmsd.warehouse.stock import actions as stock

CREDENTIALS_CHOSEN: Final[tuple[str, Mapping[str, tuple[str, ...]]]] = (
    "auth_type",
    {choice: names for choice, names in CREDENTIALS.items()},  # noqa: C416 -- its keys become plain texts
)
WEBHOOK_ACTS: Final = (
    Act(
        "new",
        "New webhook",
        webhooks.create_webhook,
        "A webhook reports events to another program as they happen.",
        "Webhook created. Send a test to see whether it arrives.",
        chooses=CREDENTIALS_CHOSEN,
        offers=("secret", new_secret),
    ),
    Act(
        "test",
        "Send a test",
        test_webhook,
        "Sends one event webhook.test and waits for the answer, up to 10 seconds.",
        goes_to="delivery",
    ),
    Act(
        "switch-on",
        "Switch on again",
        webhooks.switch_on_webhook,
        "wmsd queues new events again, and sends the events that were queued before. Events from the "
        "time when the webhook was off are only in the event log.",
        "The webhook is on again.",
        when=("active", False),
    ),
    Act(
        "new-receiver",
        "New test receiver",
        make_webhook_receiver,
        "Use a test receiver while you have no receiver of your own. wmsd signs, sends, repeats and "
        "logs webhook deliveries as usual, but they arrive on a page: you see the content, and whether "
        "the signature is valid. A test receiver works for 7 days.",
        goes_to="receiver",
    ),
    Act(
        "change",
        "Change",
        webhooks.update_webhook,
        done="The webhook is changed.",
        changes=True,
        chooses=CREDENTIALS_CHOSEN,
    ),
    Act(
        "rotate-secret",
        "New secret",
        webhooks.rotate_webhook_secret,
        when=("auth_type", "hmac"),
        unless=("url", RECEIVER_ADDRESS),
    ),
    Act(
        "remove",
        "Remove",
        webhooks.delete_webhook,
        "wmsd sends no more deliveries of this webhook, and deletes the delivery log.",
        "The webhook is removed.",
        "list",
        is_final=True,
    ),
)
WEBHOOKS: Final = Resource(
    "webhooks",
    "Webhooks",
    webhooks.list_webhooks,
    webhooks.walk_webhooks,
    ("name", "url", "active", "last_delivery", "failing_since"),
    webhooks.get_webhook,
    key="name",
    acts=WEBHOOK_ACTS,
    further=("deliveries", "Deliveries", "requests sent and answers received"),
)
IMPORTS: Final = Resource(
    "imports",
    "Imports",
    imports.list_imports,
    imports.walk_imports,
    ("id", "kind", "file_name", "actor", "created", "updated", "unchanged", "imported_at", "undone_at"),
    imports.get_import,
    key="id",
    sort="-id",
    acts=(
        Act("new", "Import a file", imports.begin_upload, done="The file is imported."),
        Act(
            "undo",
            "Undo import",
            imports.undo_import,
            "wmsd deletes the records that the import created, restores the records that it changed, and "
            "books opposite stock movements. If other records already depend on the import, wmsd undoes "
            "nothing.",
            "The import is undone.",
            is_final=True,
            when=("can_be_undone", True),
        ),
    ),
)
QUARANTINED: Final = ("quantity", "everything", "reason")
STOCK_ACTS: Final = (
    Act(
        "count",
        "Count",
        count_stock,
        (
            "Enter the quantity that you counted, including reserved and quarantined goods. wmsd "
            "immediately changes the stock to this quantity. If the goods have lots or serials, count one "
            "lot or one serial at a time."
        ),
        "The stock is counted.",
        reads=stock.get_stock,
        leading=("quantity", "lot_number", "serial", "reason"),
        without=frozenset({"seen_at"}),
        merges=True,
        tells_when_shown=True,
    ),
    Act(
        "new-count",
        "Create a count",
        create_count,
        takes_many=True,
        leads_to="counts/new?stock={id}",
    ),
    Act(
        "adjust",
        "Adjust",
        stock.adjust_stock,
        "Fill in either the new quantity or the change in quantity. Quantities reserved for orders do not change.",
        "The stock is adjusted.",
        reads=stock.get_stock,
        leading=("to", "by", "reason"),
    ),
    Act(
        "quarantine",
        "Put into quarantine",
        stock.quarantine_stock,
        (
            "Enter a quantity, choose All goods, or enter serials under More fields. The goods stay in "
            "stock, but cannot be sold until you release them."
        ),
        "The goods are in quarantine.",
        reads=stock.get_stock,
        takes_many=True,
        leading=QUARANTINED,
    ),
    Act(
        "release",
        "Release from quarantine",
        stock.release_stock,
        "Enter a quantity, or choose All goods. The released goods can be sold again.",
        "The goods are released.",
        reads=stock.get_stock,
        takes_many=True,
        leading=QUARANTINED,
        unless=("quarantined", 0),
    ),
)
OF_PARTNERS: Final = ("sales-orders", "purchase-orders", "returns", "packaging", "packaging-movements")
DIRECTORY: Final = ("code", "name", "active", "updated_at")


def _own_acts(noun: str, create: Operation, change: Operation) -> tuple[Act, ...]:
    return (
        Act("new", f"New {noun}", create, done=f"{noun.capitalize()} created."),
        Act("change", "Change", change, done=f"The {noun} is changed.", changes=True),
    )


*_ORDERS, _COUNTS = DOCUMENT_RESOURCES
RESOURCES: Final = (
    *_ORDERS,
    Resource(
        "stock",
        "Stock",
        stock.list_stock,
        stock.walk_stock,
        ("article", "warehouse", "quantity", "reserved", "quarantined", "available", "updated_at"),
        stock.explain_stock,
        key="quantity",
        named_by=("article_code", "warehouse_code"),
        sort="id",
        acts=STOCK_ACTS,
        comes="Receptions, counts and imports create stock.",
    ),
    _COUNTS,
    Resource(
        "articles",
        "Articles",
        articles.list_articles,
        articles.walk_articles,
        ("code", "name", "unit", "barcode", "min_stock", "active", "updated_at"),
        articles.get_article,
        under=(("stock", "article_code"), ("sales-orders", "article_id"), ("purchase-orders", "article_id")),
        acts=(
            *_own_acts("article", articles.create_article, articles.update_article),
            Act("count", "Count", create_count, leads_to="counts/new?article={id}"),
        ),
    ),
    Resource(
        "packaging",
        "Packaging",
        packaging.walk_packaging_balances,
        packaging.walk_packaging_balances,
        ("packaging_type_code", "packaging_type_name", "partner", "quantity", "updated_at"),
        says=(
            "The quantity is how many pieces the partner owes you. If the quantity is below 0, you owe "
            "the partner."
        ),
        key="quantity",
        leads_to=("packaging-movements", ("packaging_type_code", "partner_id")),
        comes="A balance appears when packaging first goes to a partner or comes back.",
    ),
    Resource(
        "packaging-movements",
        "Packaging movements",
        packaging_administration.list_movements_with_recorders,
        packaging_administration.list_movements_with_recorders,
        (
            *("code", "packaging_type_code", "partner", "direction", "quantity", "occurred_at", "document"),
            *("actor", "notes"),
        ),
        acts=(
            Act(
                "new",
                "Record a movement",
                packaging_administration.record_packaging_movement,
                "A movement cannot be changed later. To correct a movement, record another one in the "
                "opposite direction.",
                "The movement is recorded.",
                "list",
                without=frozenset({"code"}),
            ),
        ),
        comes="Orders, receptions, transports and imports create packaging movements.",
    ),
    Resource(
        "packaging-types",
        "Packaging types",
        packaging.walk_packaging_types,
        packaging.walk_packaging_types,
        ("code", "name", "updated_at"),
        packaging_administration.get_packaging_type,
        under=(("packaging", "packaging_type_code"), ("packaging-movements", "packaging_type_code")),
        acts=_own_acts(
            "packaging type",
            packaging_administration.create_packaging_type,
            packaging_administration.change_packaging_type,
        ),
    ),
    Resource(
        "partners",
        "Partners",
        directory.list_partners,
        directory.walk_partners,
        ("code", "name", "type", "active", "updated_at"),
        directory.get_partner,
        under=tuple((name, "partner_id") for name in OF_PARTNERS),
        acts=_own_acts(
            "partner", directory_administration.create_partner, directory_administration.change_partner
        ),
    ),
    Resource(
        "clients",
        "Clients",
        directory.list_clients,
        directory.walk_clients,
        DIRECTORY,
        directory.get_client,
        says="A client is the owner of goods in your warehouses. Customers, suppliers and carriers are partners.",
        acts=_own_acts("client", directory_administration.create_client, directory_administration.change_client),
    ),
    Resource(
        "warehouses",
        "Warehouses",
        directory.list_warehouses,
        directory.walk_warehouses,
        DIRECTORY,
        directory.get_warehouse,
        acts=(
            *_own_acts(
                "warehouse", directory_administration.create_warehouse, directory_administration.change_warehouse
            ),
            Act("count", "Count", create_count, leads_to="counts/new?in_warehouse={id}"),
        ),
    ),
    IMPORTS,
    WEBHOOKS,
    Resource(
        "events",
        "Events",
        outbox.list_latest_events,
        outbox.list_events,
        ("timestamp", "event", "entity_id", "id"),
        outbox.get_event,
        key="id",
        comes=("Changes to articles, orders, receptions, returns, counts, stock and packaging create events."),
    ),
)
BY_NAME: Final = {resource.name: resource for resource in RESOURCES}
REFERRED: Final = {
    id_field: resource
    for id_field, reference in REFERRING.items()
    for resource in RESOURCES
    if resource.one is not None and resource.model is reference.find.returns
}
"""The resource that a field refers to, by the name of the field."""
