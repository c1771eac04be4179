"""An event as the log shows it (specification, section 6)."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from wmsd.base.fields import Id, Model, Timestamp
from wmsd.base.listing import CursorQuery, several_of
from wmsd.outbox.events import EVENTS


class Event(Model):
    """What happened. `event`, `timestamp` and `data` are the body that a webhook is sent."""

    id: Annotated[str, Field(description="The same on every delivery: receivers know a repetition by it.")]
    event: str
    timestamp: Timestamp
    entity_id: Id
    data: dict[str, Any]


class EventQuery(CursorQuery):
    event: Annotated[
        tuple[Any, ...] | None,
        several_of(tuple(EVENTS)),
        WithJsonSchema({"type": "string"}),
        Field(description="Names of events, by commas."),
    ] = None
    after: Annotated[
        str | None,
        Field(max_length=64, description="The id of the last event that you have: what came after it follows."),
    ] = None
