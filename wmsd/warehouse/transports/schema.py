"""The fields of a transport (decisions, section 4)."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from wmsd.contract.fields import (
    Code,
    EmptyIsNull,
    Id,
    Input,
    Label,
    Model,
    Name,
    OptionalLabel,
    Quantity,
    Recorded,
    Timestamp,
)
from wmsd.contract.list_queries import CursorQuery, several_of
from wmsd.warehouse.directory.schema import Address
from wmsd.warehouse.sales_orders.rules import STATUSES as ORDER_STATUSES
from wmsd.warehouse.sales_orders.rules import Status as OrderStatus
from wmsd.warehouse.sales_orders.schema import SalesOrder
from wmsd.warehouse.transports.rules import Requested, Status

MOST_ORDERS = 200
MOST_PACKAGING = 100


class PackagingEntry(Input):
    """Packaging that goes out with a transport, or comes back with it."""

    packaging_type_code: Code
    quantity: Quantity
    order_code: Annotated[
        Code | None,
        Field(
            description="The order whose partner gets or returns the packaging. Required if the orders have "
            "several partners."
        ),
    ] = None


Packaging = Annotated[list[PackagingEntry], Field(max_length=MOST_PACKAGING)]


class TransportFields(Input):
    transport_ecc: Annotated[Label, Field(description="The planner's own number, unique in the site.")]
    order_codes: Annotated[
        list[Code],
        Field(
            max_length=MOST_ORDERS,
            description="The codes of its orders. An empty list cancels the plan and frees the orders.",
        ),
    ]
    vehicle: OptionalLabel = None
    driver: Annotated[Name | None, EmptyIsNull] = None
    packaging: Annotated[
        Packaging,
        Field(
            description="The packaging that goes out with the transport. It is recorded when "
            "the transport is loaded."
        ),
    ] = []


class TransportStatusMove(Input):
    status: Requested
    occurred_at: Annotated[
        Timestamp | None, Field(description="The date and time of the move. If omitted, now.")
    ] = None
    packaging_returned: Annotated[
        Packaging | None, Field(description="The packaging that came back. Send it with LIVRAT.")
    ] = None


class TransportOrder(Model):
    """An order of a transport, with its current status."""

    code: Code
    status: Annotated[
        OrderStatus, Field(description="The current status of the order, even if a user moved it by hand.")
    ]
    partner_id: Id
    external_ref: OptionalLabel


class TransportPackaging(Model):
    packaging_type_code: Code
    quantity: Quantity
    order_code: Code | None


class Transport(Recorded):
    """A transport, as a transport planner gets it."""

    READ_ONLY = Recorded.READ_ONLY | {"status", "orders", "packaging_returned", "loaded_at", "delivered_at"}

    transport_ecc: Label
    status: Status
    vehicle: OptionalLabel
    driver: Name | None
    orders: list[TransportOrder]
    packaging: list[TransportPackaging]
    packaging_returned: list[TransportPackaging]
    loaded_at: Annotated[Timestamp | None, Field(description="The time of loading, as sent by the planner.")]
    delivered_at: Annotated[Timestamp | None, Field(description="The time of delivery, as sent by the planner.")]


class OrderTransport(Model):
    """A transport of a sales order, as users of the company get it."""

    transport_ecc: Label
    warehouse_id: Id
    status: Status
    vehicle: OptionalLabel
    loaded_at: Timestamp | None
    delivered_at: Timestamp | None
    updated_at: Timestamp


class OrderToLoad(SalesOrder):
    """A sales order with its destination and its transport, as a transport planner gets it."""

    partner_code: Code
    partner_name: Name
    partner_address: Address | None
    transport_ecc: Annotated[
        Label | None,
        Field(description="The transport of the site that has the order, if the transport is not delivered yet."),
    ]


class OrderToLoadQuery(CursorQuery):
    status: Annotated[
        tuple[Any, ...] | None,
        several_of(ORDER_STATUSES),
        WithJsonSchema({"type": "string"}),
        Field(description="If omitted, IN_LUCRU, which means ready to load."),
    ] = None
