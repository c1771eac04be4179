"""The headings that group the operations in the API descriptions. Each heading has a noun for its records."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Tag(NamedTuple):
    """A heading for a group of operations: the noun for the group's records, and the description of the group."""

    noun: str
    description: str


TAGS: Final[Mapping[str, Tag]] = {
    "Administration": Tag(
        "record", "Users, companies and tokens of the installation, as admins manage them in the browser."
    ),
    "Articles": Tag(
        "article", "The goods in the warehouses: codes, measures, barcodes, and how each article is tracked."
    ),
    "Authentication": Tag("token", "Get and revoke tokens, and find the user of a token."),
    "Batch": Tag("batch", "Several requests in one request."),
    "Clients": Tag("client", "The owners of the goods, if the company stores goods for others."),
    "Company": Tag("company", "The companies that a token may use."),
    "Counts": Tag("count", "Stock counts, and the booking of their differences."),
    "Discovery": Tag(
        "description", "The address of each interface, the health of the service, and these descriptions."
    ),
    "Events": Tag("event", "The event log: all events of the last 90 days."),
    "GraphQL": Tag("answer", "The same records, by queries that you write yourself."),
    "Imports": Tag("import", "Files that people import in the browser."),
    "Packaging": Tag("packaging movement", "Returnable packaging with partners: types, balances and movements."),
    "Partners": Tag("partner", "Customers, suppliers and carriers."),
    "Platform": Tag("platform", "The installation as a whole."),
    "Purchase orders": Tag("purchase order", "Orders of goods from suppliers."),
    "Receptions": Tag("reception", "Goods that arrived for purchase orders."),
    "Requests": Tag("request", "The last requests of a company, and why they were refused."),
    "Returns": Tag("return", "Goods that customers sent back."),
    "Sales orders": Tag("sales order", "Goods that customers order: reserved, loaded and delivered."),
    "Sessions": Tag("session", "People who are signed in to the pages."),
    "Stock": Tag(
        "stock record",
        "The stock of each article in each warehouse: quantity, reserved, quarantined and available.",
    ),
    "Transports": Tag("transport", "Orders that leave together, planned by a transport planner."),
    "Warehouses": Tag("warehouse", "The places where goods are stored."),
    "Webhook events": Tag("event", "The events that webhooks receive."),
    "Webhooks": Tag("webhook", "Subscriptions to events, and the log of webhook deliveries."),
}
