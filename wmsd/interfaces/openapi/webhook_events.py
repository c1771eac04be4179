"""The events that webhooks send, with the model of their data."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from wmsd.events.outbox.events import EVENTS
from wmsd.events.webhooks.signing import EPOCH, SEQUENCE_GAP
from wmsd.interfaces.openapi.schemas import Schema, objects, reference
from wmsd.warehouse.articles.schema import Article
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.packaging.schema import PackagingMovementRecorded
from wmsd.warehouse.receptions.schema import ReceptionPartial
from wmsd.warehouse.stock.schema import StockLow, StockUpdated

EVENT_DATA: Final[Mapping[str, type[BaseModel]]] = {
    "article.created": Article,
    "article.updated": Article,
    "article.deleted": Article,
    **{
        f"{kind.table.entity}.{happened}": data
        for kind in DOCUMENTS
        for happened, data in (
            ("created", kind.table.shown),
            ("updated", kind.table.shown),
            ("status_changed", kind.table.status_changed),
        )
    },
    "reception.partial": ReceptionPartial,
    "stock.updated": StockUpdated,
    "stock.low": StockLow,
    "packaging.movement_recorded": PackagingMovementRecorded,
}
SIGNED: Final = {
    "X-Webhook-Event": "The name of the event.",
    "X-Webhook-Id": "The id of the event, the same at every attempt.",
    "X-Webhook-Attempt": "The number of the attempt, from 1.",
    "X-Webhook-Sequence": "The number of the delivery in its subscription, without gaps in an epoch.",
    EPOCH: "The epoch of the company's history. A restore begins a new epoch.",
}
SOMETIMES: Final = {
    SEQUENCE_GAP: "Only on the first delivery of an epoch: the first and last number that wmsd skipped, "
    "such as `13-28`. You may have received these numbers before the restore, which removed "
    "the changes they reported.",
}


TAG: Final = "Webhook events"
"""The tag of webhook events. No operation has this tag.

Code generators write one file for each tag. A second file for the same tag replaces the first.
"""


def webhooks() -> dict[str, Schema]:
    """Return the OpenAPI description of the request that wmsd sends to a webhook receiver, for each event."""
    return {event: {"post": _received(event)} for event in EVENTS}


def name_of(event: str) -> str:
    """Return the name of the schema of an event's body, such as `SalesOrderCreatedEvent`."""
    return "".join(part.capitalize() for part in event.replace(".", "_").split("_")) + "Event"


def schemas() -> dict[str, Schema]:
    return {
        name_of(event): objects(
            {
                "event": {"type": "string", "const": event},
                "timestamp": {"type": "string", "format": "date-time"},
                "data": reference(EVENT_DATA[event].__name__),
            }
        )
        for event in EVENTS
    }


def _received(event: str) -> Schema:
    return {
        "operationId": f"on_{event.replace('.', '_')}",
        "tags": [TAG],
        "summary": f"{event}",
        "security": [],
        "description": f"{EVENTS[event]} The guide says how to verify the signature: /docs/webhooks.",
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": says, "schema": {"type": "string"}}
            for name, says in SIGNED.items()
        ]
        + [
            {"name": name, "in": "header", "required": False, "description": says, "schema": {"type": "string"}}
            for name, says in SOMETIMES.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference(name_of(event))}},
        },
        "responses": {
            "2XX": {"description": "Received. Any other status is a failure, and wmsd sends the delivery again."},
            "410": {"description": "The receiver is gone. wmsd switches the subscription off."},
        },
    }
