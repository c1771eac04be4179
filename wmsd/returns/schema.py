"""A return's fields (decisions, section 2)."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from wmsd.base.fields import (
    Code,
    EmptyIsNull,
    Id,
    Input,
    Label,
    Model,
    OptionalLabel,
    OptionalText,
    Quantity,
    Recorded,
    Serials,
    Timestamp,
)
from wmsd.base.listing import QueryId, several_of
from wmsd.documents.schema import DocumentFilters, ExternalRef, OwnCode
from wmsd.returns.rules import INITIAL, STATUSES, Disposition, Status

MAX_LINES = 1000


class LineFields(Input):
    """What comes back. A line that is sent with its id keeps what is not sent of it."""

    id: Annotated[Id | None, Field(description="A line of this return.")] = None
    article_id: Id | None = None
    article_code: Code | None = None
    quantity: Annotated[Quantity | None, Field(description="Required in a new line.")] = None
    disposition: Annotated[
        Disposition | None, Field(description="What becomes of it; required for FINALIZAT.")
    ] = None
    lot_number: OptionalLabel = None
    serials: Annotated[
        Serials | None, EmptyIsNull, Field(description="One for each unit, where they are known.")
    ] = None


class ReturnFields(Input):
    code: OwnCode = None
    status: Annotated[Status, Field(description="A new return begins as CREAT.")] = INITIAL
    partner_id: Annotated[Id, Field(description="Who sends it back.")]
    warehouse_id: Annotated[Id, Field(description="Where it arrives.")]
    sales_order_id: Annotated[
        Id | None, Field(description="What it was shipped by. Never more comes back than that.")
    ] = None
    reason: OptionalText = None
    external_ref: ExternalRef = None
    notes: OptionalText = None
    lines: Annotated[list[LineFields], Field(min_length=1, max_length=MAX_LINES)]


class ReturnChanges(ReturnFields, partial=True):
    """The fields to change; the others stay.

    `lines` replaces all of them; but when each line that is sent has its `id` and its `disposition` only, those
    are set and nothing else changes.
    """


class ReturnLine(Model):
    id: Id
    article_id: Id
    article_code: Code
    quantity: Quantity
    disposition: Disposition | None
    lot_number: OptionalLabel
    serials: list[Label] | None


class ReturnStatusReached(Model):
    status: Status
    at: Timestamp


class Return(Recorded):
    """A return as the interfaces show it."""

    READ_ONLY = Recorded.READ_ONLY | {"status_history"}

    code: Code
    status: Status
    partner_id: Id
    warehouse_id: Id
    sales_order_id: Id | None
    reason: OptionalText
    external_ref: OptionalLabel
    notes: OptionalText
    lines: list[ReturnLine]
    status_history: Annotated[list[ReturnStatusReached], Field(description="Each status reached, and when.")]


class ReturnStatusChanged(Model):
    """The data of `return.status_changed`."""

    id: Id
    code: Code
    status: Status
    previous_status: Status
    partner_id: Id
    warehouse_id: Id


class ReturnFilters(DocumentFilters):
    status: Annotated[
        tuple[Any, ...] | None,
        several_of(STATUSES),
        WithJsonSchema({"type": "string"}),
        Field(description=f"One or several of {', '.join(STATUSES)}, by commas."),
    ] = None
    partner_id: QueryId | None = None
    sales_order_id: QueryId | None = None
