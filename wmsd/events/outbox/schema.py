"""An event as the event log returns it (specification, section 6)."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from wmsd.contract.fields import Id, Model, Timestamp, choice_of
from wmsd.contract.list_queries import CursorQuery, QueryTimestamp, several_of
from wmsd.events.outbox.events import EVENTS


class Event(Model):
    """An event. A webhook sends `event`, `timestamp` and `data` as its body."""

    id: Annotated[
        str,
        Field(
            description="The id of the event, the same in every webhook delivery, so that receivers "
            "recognise repetitions."
        ),
    ]
    event: Annotated[str, choice_of("EventName", EVENTS)]
    timestamp: Timestamp
    entity_id: Id
    data: dict[str, Any]


EventNames = Annotated[
    tuple[Any, ...] | None,
    several_of(tuple(EVENTS)),
    WithJsonSchema({"type": "string"}),
    Field(description="Names of events, separated by commas."),
]
Since = Annotated[QueryTimestamp | None, Field(description="Only events at or after this date and time.")]


class EventQuery(CursorQuery):
    BEGINS = frozenset({"after"})

    event: EventNames = None
    after: Annotated[
        str | None,
        Field(
            max_length=64,
            description="The id of the last event that you have. The list continues after this event.",
        ),
    ] = None
    since: Since = None


class LatestEventQuery(CursorQuery):
    event: EventNames = None
    since: Since = None
