"""The fields of a reception (specification, section 2; decisions, section 2)."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import (
    Amount,
    Code,
    EmptyIsNull,
    Id,
    Input,
    Label,
    Model,
    OptionalLabel,
    OptionalText,
    Quantity,
    SentBack,
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
from wmsd.warehouse.receptions.rules import INITIAL, Status

MAX_ITEMS = 1000
SENT_BACK = Field(description="Read only. You may send it back unchanged.")


class ReceptionItemFields(Input):
    """The goods that arrived for an item of the purchase order."""

    id: Annotated[Id | None, Field(description="The id of an existing item. Without an id, the item is new.")] = (
        None
    )
    po_item_id: Annotated[Id, Field(description="An item of the purchase order.")]
    quantity_um3pl: Annotated[Quantity, Field(description="The quantity in the article's unit_3pl.")]
    lot_number: Annotated[OptionalLabel, Field(description="Required if the article is tracked by lots.")] = None
    serial_data: Annotated[
        Serials | None,
        EmptyIsNull,
        Field(description="One serial for each unit. Required if the article is tracked by serials."),
    ] = None
    article_id: Annotated[Id | None, SentBack, SENT_BACK] = None
    article_code: Annotated[Code | None, SentBack, SENT_BACK] = None
    quantity: Annotated[Amount | None, SentBack, SENT_BACK] = None


class ReceptionFields(WithPackaging):
    code: OwnCode = None
    status: Annotated[Status, Field(description="CREAT, or FINALIZAT to post the reception immediately.")] = (
        INITIAL
    )
    purchase_order_id: Annotated[
        Id, Field(description="The purchase order whose goods have arrived. You cannot change this field later.")
    ]
    warehouse_id: Annotated[Id, Field(description="The warehouse that receives the goods.")]
    transport_ecc: Annotated[
        OptionalLabel, Field(description=("The code of the transport that brought the goods."))
    ] = None
    external_ref: ExternalRef = None
    notes: OptionalText = None
    selected_items: Annotated[list[ReceptionItemFields], Field(min_length=1, max_length=MAX_ITEMS)]


class ReceptionChanges(ReceptionFields, partial=True):
    """The fields to change. Other fields keep their values. `selected_items` replaces all items."""


class ReceptionItem(Model):
    id: Id
    po_item_id: Id
    article_id: Id
    article_code: Code
    quantity_um3pl: Quantity
    quantity: Annotated[
        Amount | None, Field(description="The posted quantity in the article's unit. Null until FINALIZAT.")
    ]
    lot_number: OptionalLabel
    serial_data: list[Label] | None


class ReceptionStatusReached(StatusReached):
    status: Status


class Reception(DocumentShown):
    """A reception."""

    status: Status
    purchase_order_id: Id
    warehouse_id: Id
    transport_ecc: OptionalLabel
    external_ref: OptionalLabel
    notes: OptionalText
    selected_items: list[ReceptionItem]
    status_history: Annotated[list[ReceptionStatusReached], STATUS_HISTORY]


class RemainingItem(Model):
    """An item of the purchase order that is not completely received."""

    po_item_id: Id
    ordered: Quantity
    received: Amount
    remaining: Quantity


class ReceptionPartial(Model):
    """The data of `reception.partial`."""

    id: Id
    code: Code
    status: Status
    purchase_order_id: Id
    warehouse_id: Id
    remaining: list[RemainingItem]
