"""The fields of a return (decisions, section 2)."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import (
    Code,
    EmptyIsNull,
    Id,
    Input,
    Label,
    Model,
    OptionalLabel,
    OptionalText,
    Quantity,
    Serials,
)
from wmsd.warehouse.documents.schema import (
    STATUS_HISTORY,
    DocumentShown,
    ExternalRef,
    OwnCode,
    StatusReached,
)
from wmsd.warehouse.returns.rules import INITIAL, Disposition, Status

MAX_LINES = 1000


class ReturnLineFields(Input):
    """The goods that come back. If you send a line with its id, fields that you omit keep their values."""

    id: Annotated[Id | None, Field(description="The id of a line of this return.")] = None
    article_id: Id | None = None
    article_code: Code | None = None
    quantity: Annotated[Quantity | None, Field(description="Required in a new line.")] = None
    disposition: Annotated[
        Disposition | None, Field(description="What happens to the goods. Required for FINALIZAT.")
    ] = None
    lot_number: OptionalLabel = None
    serials: Annotated[
        Serials | None, EmptyIsNull, Field(description="One serial for each unit, if the serials are known.")
    ] = None


class ReturnFields(Input):
    code: OwnCode = None
    status: Annotated[Status, Field(description="A new return begins as CREAT.")] = INITIAL
    partner_id: Annotated[Id, Field(description="The partner who returns the goods.")]
    warehouse_id: Annotated[Id, Field(description="The warehouse where the goods arrive.")]
    sales_order_id: Annotated[
        Id | None,
        Field(description="The sales order that shipped the goods. You cannot return more than was shipped."),
    ] = None
    reason: OptionalText = None
    external_ref: ExternalRef = None
    notes: OptionalText = None
    lines: Annotated[list[ReturnLineFields], Field(min_length=1, max_length=MAX_LINES)]


class ReturnChanges(ReturnFields, partial=True):
    """The fields to change. Other fields keep their values.

    Usually `lines` replaces all lines. But if each sent line has only its `id` and its `disposition`, only these
    dispositions change.
    """


class ReturnLine(Model):
    id: Id
    article_id: Id
    article_code: Code
    quantity: Quantity
    disposition: Disposition | None
    lot_number: OptionalLabel
    serials: list[Label] | None


class ReturnStatusReached(StatusReached):
    status: Status


class Return(DocumentShown):
    """A return."""

    status: Status
    partner_id: Id
    warehouse_id: Id
    sales_order_id: Id | None
    reason: OptionalText
    external_ref: OptionalLabel
    notes: OptionalText
    lines: list[ReturnLine]
    status_history: Annotated[list[ReturnStatusReached], STATUS_HISTORY]
