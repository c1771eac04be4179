"""The headings of operations in the API descriptions, with the noun for a record under each heading."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Tag(NamedTuple):
    """The noun of the tag's records, and a description of the tag."""

    noun: str
    description: str


TAGS: Final[Mapping[str, Tag]] = {
    "Administration": Tag("record", "People, companies and tokens of the installation, at the pages of admins."),
    "Articles": Tag("article", "What is stored: codes, measures, barcodes, and how each article is tracked."),
    "Authentication": Tag("token", "Getting and revoking tokens, and who a token belongs to."),
    "Batch": Tag("batch", "Several requests in one."),
    "Clients": Tag("client", "Whose goods they are, where the company stores for others."),
    "Company": Tag("company", "The companies that a token may use."),
    "Counts": Tag("count", "What was counted of the stock, and the booking of differences."),
    "Discovery": Tag("description", "What there is, whether it works, and these descriptions."),
    "Events": Tag("event", "The event log: all that happened in the last 90 days."),
    "GraphQL": Tag("answer", "The same records by queries of one's own."),
    "Imports": Tag("import", "Files that people take in at the pages."),
    "Packaging": Tag("packaging movement", "Returnable packaging with partners: types, balances and movements."),
    "Partners": Tag("partner", "Customers, suppliers and carriers."),
    "Platform": Tag("platform", "The installation as a whole."),
    "Purchase orders": Tag("purchase order", "What is expected from suppliers."),
    "Receptions": Tag("reception", "What arrived of purchase orders."),
    "Requests": Tag("request", "The last requests of a company, and why they were refused."),
    "Returns": Tag("return", "What customers sent back."),
    "Sales orders": Tag("sales order", "What is ordered, reserved and shipped."),
    "Sessions": Tag("session", "People who are signed in to the pages."),
    "Stock": Tag("stock record", "What is where: quantity, reserved, quarantined and available."),
    "Transports": Tag("transport", "Orders that leave together, planned by a transport planner."),
    "Warehouses": Tag("warehouse", "Where goods are stored."),
    "Webhook events": Tag("event", "What webhooks receive."),
    "Webhooks": Tag("webhook", "Subscriptions to events, and the log of their deliveries."),
}
