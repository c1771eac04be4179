"""The fields of a sales order (specification, section 2; decisions, section 2)."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.contract.fields import (
    Code,
    Date,
    DueDate,
    Id,
    Input,
    Label,
    Model,
    OptionalLabel,
    OptionalText,
    Quantity,
    Serials,
)
from wmsd.warehouse.documents.document_packaging import WithPackaging
from wmsd.warehouse.documents.schema import (
    STATUS_HISTORY,
    DocumentShown,
    ExternalRef,
    OwnCode,
    StatusReached,
)
from wmsd.warehouse.sales_orders.rules import INITIAL, Status

MAX_LINES = 1000


class SalesOrderLineFields(Input):
    """The ordered goods: an article, by id or by code, and its quantity."""

    id: Annotated[Id | None, Field(description="The id of an existing line. Without an id, the line is new.")] = (
        None
    )
    article_id: Id | None = None
    article_code: Code | None = None
    quantity: Quantity
    warehouse_id: Annotated[
        Id | None, Field(description="The warehouse of the goods. If omitted, the warehouse of the order.")
    ] = None
    lot_number: Annotated[
        OptionalLabel, Field(description="The lot to take. If omitted, wmsd takes the oldest lot.")
    ] = None
    serials: Annotated[
        Serials | None,
        Field(description="The serials to take, one for each unit. If omitted, wmsd takes the oldest serials."),
    ] = None


Lines = Annotated[list[SalesOrderLineFields], Field(min_length=1, max_length=MAX_LINES)]


class ShipTo(Input):
    """The address to which an order is sent, if it differs from the partner's address."""

    name: OptionalLabel = None
    street: OptionalText = None
    city: OptionalLabel = None
    postal_code: OptionalLabel = None
    country: OptionalLabel = None
    phone: OptionalLabel = None


def _nowhere_is_none(ship_to: ShipTo | None) -> ShipTo | None:
    """Return None if the address has no values. Otherwise return the address."""
    return None if ship_to is None or ship_to == ShipTo() else ship_to


class SalesOrderFields(WithPackaging):
    code: OwnCode = None
    status: Annotated[Status, Field(description="A new order begins as CREAT.")] = INITIAL
    partner_id: Annotated[Id, Field(description="The customer who receives the goods.")]
    warehouse_id: Annotated[
        Id, Field(description="The warehouse from which the goods leave. A line can name another warehouse.")
    ]
    client_id: Annotated[
        Id | None,
        Field(
            description=(
                "Not the customer. The owner of the goods, if the goods do not belong to the company itself."
            )
        ),
    ] = None
    external_ref: ExternalRef = None
    requested_date: Annotated[
        DueDate | None, Field(description="The last day for loading the goods. After this day, the order is late.")
    ] = None
    notes: OptionalText = None
    customer_reference: Annotated[OptionalLabel, Field(description="The customer's own number for the order.")] = (
        None
    )
    ship_to: Annotated[
        ShipTo | None,
        AfterValidator(_nowhere_is_none),
        Field(
            description=(
                "The delivery address. A change replaces the whole address, and is possible only while the "
                "order is CREAT."
            )
        ),
    ] = None
    carrier: OptionalLabel = None
    tracking_number: Annotated[
        OptionalLabel, Field(description="You can add the tracking number even after the order is delivered.")
    ] = None
    lines: Lines


class SalesOrderChanges(SalesOrderFields, partial=True):
    """The fields to change. Other fields keep their values. `lines` replaces all lines."""


class SalesOrderStatusMove(WithPackaging):
    status: Status


class SalesOrderLine(Model):
    id: Id
    article_id: Id
    article_code: Code
    quantity: Quantity
    warehouse_id: Id
    lot_number: OptionalLabel
    serials: list[Label] | None


class SalesOrderStatusReached(StatusReached):
    status: Status


class SalesOrder(DocumentShown):
    """A sales order."""

    status: Status
    partner_id: Id
    warehouse_id: Id
    client_id: Id | None
    external_ref: OptionalLabel
    customer_reference: OptionalLabel
    notes: OptionalText
    requested_date: Date | None
    ship_to: ShipTo | None
    carrier: OptionalLabel
    tracking_number: OptionalLabel
    lines: list[SalesOrderLine]
    status_history: Annotated[list[SalesOrderStatusReached], STATUS_HISTORY]


class LoadedGoods(Model):
    """Goods that have left with a sales order. `line_id` is the id of the order line that they belong to."""

    line_id: Id
    quantity: Quantity
    lot_number: Label | None
    serial: Label | None
