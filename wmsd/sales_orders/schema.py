"""A sales order's fields (specification, section 2; decisions, section 2)."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from wmsd.base.fields import (
    Code,
    Date,
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
from wmsd.documents.packaging import WithPackaging
from wmsd.documents.schema import DocumentFilters, ExternalRef, OwnCode
from wmsd.sales_orders.rules import INITIAL, STATUSES, Status

MAX_LINES = 1000


class LineFields(Input):
    """What is ordered: the article by its id or by its code."""

    id: Annotated[Id | None, Field(description="A line that is sent back with its id keeps it.")] = None
    article_id: Id | None = None
    article_code: Code | None = None
    quantity: Quantity
    warehouse_id: Annotated[Id | None, Field(description="Where it is taken from; by default the order's.")] = None
    lot_number: Annotated[OptionalLabel, Field(description="The lot to take; by default the oldest.")] = None
    serials: Annotated[
        Serials | None, Field(description="The serials to take, one for each unit; by default the oldest.")
    ] = None


Lines = Annotated[list[LineFields], Field(min_length=1, max_length=MAX_LINES)]


class SalesOrderFields(WithPackaging):
    code: OwnCode = None
    status: Annotated[Status, Field(description="A new order begins as CREAT.")] = INITIAL
    partner_id: Id
    warehouse_id: Annotated[Id, Field(description="Where the goods are taken from, unless a line says otherwise.")]
    client_id: Id | None = None
    external_ref: ExternalRef = None
    requested_date: Date | None = None
    notes: OptionalText = None
    lines: Lines


class SalesOrderChanges(SalesOrderFields, partial=True):
    """The fields to change; the others stay. `lines` replaces all of them."""


class SalesOrderStatus(WithPackaging):
    status: Status


class SalesOrderLine(Model):
    id: Id
    article_id: Id
    article_code: Code
    quantity: Quantity
    warehouse_id: Id
    lot_number: OptionalLabel
    serials: list[Label] | None


class SalesOrderStatusReached(Model):
    status: Status
    at: Timestamp


class SalesOrder(Recorded):
    """A sales order as the interfaces show it."""

    READ_ONLY = Recorded.READ_ONLY | {"status_history"}

    code: Code
    status: Status
    partner_id: Id
    warehouse_id: Id
    client_id: Id | None
    external_ref: OptionalLabel
    notes: OptionalText
    requested_date: Date | None
    lines: list[SalesOrderLine]
    status_history: Annotated[list[SalesOrderStatusReached], Field(description="Each status reached, and when.")]


class SalesOrderStatusChanged(Model):
    """The data of `sales_order.status_changed` (specification, section 6)."""

    id: Id
    code: Code
    status: Status
    previous_status: Status
    partner_id: Id
    warehouse_id: Id


Statuses = Annotated[
    tuple[Any, ...],
    several_of(STATUSES),
    WithJsonSchema({"type": "string"}),
    Field(description=f"One or several of {', '.join(STATUSES)}, by commas."),
]


class SalesOrderFilters(DocumentFilters):
    status: Statuses | None = None
    partner_id: QueryId | None = None
