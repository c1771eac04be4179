"""The headings of operations in the descriptions, and the noun for a record under each."""

from collections.abc import Mapping
from typing import Final

TAGS: Final[Mapping[str, str]] = {
    "Articles": "article",
    "Authentication": "token",
    "Batch": "batch",
    "Clients": "client",
    "Company": "company",
    "Discovery": "description",
    "Events": "event",
    "GraphQL": "answer",
    "Packaging": "packaging movement",
    "Partners": "partner",
    "Platform": "platform",
    "Purchase orders": "purchase order",
    "Receptions": "reception",
    "Returns": "return",
    "Sales orders": "sales order",
    "Stock": "stock record",
    "Transports": "transport",
    "Warehouses": "warehouse",
    "Webhooks": "webhook",
}
