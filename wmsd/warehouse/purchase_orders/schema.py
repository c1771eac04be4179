"""The fields of a purchase order (decisions, section 2)."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.base.quantity import SCALE
from wmsd.contract.fields import (
    Amount,
    Code,
    Date,
    DueDate,
    Id,
    Input,
    Model,
    OptionalLabel,
    OptionalText,
    Quantity,
    SentBack,
    validation_error,
)
from wmsd.warehouse.documents.schema import (
    STATUS_HISTORY,
    DocumentShown,
    ExternalRef,
    OwnCode,
    StatusReached,
)
from wmsd.warehouse.purchase_orders.rules import INITIAL, Status

MAX_ITEMS = 1000


class PurchaseOrderItemFields(Input):
    """The ordered goods: an article, by id or by code, and its quantity."""

    id: Annotated[Id | None, Field(description="The id of an existing item. Without an id, the item is new.")] = (
        None
    )
    article_id: Id | None = None
    article_code: Code | None = None
    quantity: Quantity
    received_quantity: Annotated[
        Amount | None,
        SentBack,
        Field(description="Read only: the total of the receptions. You may send it back unchanged."),
    ] = None


class PurchaseOrderFields(Input):
    code: OwnCode = None
    status: Annotated[Status, Field(description="A new order begins as CREAT.")] = INITIAL
    partner_id: Annotated[Id, Field(description="The supplier.")]
    warehouse_id: Annotated[Id, Field(description="The warehouse where the goods will arrive.")]
    external_ref: ExternalRef = None
    expected_date: DueDate | None = None
    notes: OptionalText = None
    items: Annotated[list[PurchaseOrderItemFields], Field(min_length=1, max_length=MAX_ITEMS)]


class PurchaseOrderChanges(PurchaseOrderFields, partial=True):
    """The fields to change. Other fields keep their values. `items` replaces all items."""


class PurchaseOrderItem(Model):
    id: Id
    article_id: Id
    article_code: Code
    quantity: Quantity
    received_quantity: Amount


class PurchaseOrderStatusReached(StatusReached):
    status: Status


class PurchaseOrder(DocumentShown):
    """A purchase order."""

    status: Status
    partner_id: Id
    warehouse_id: Id
    external_ref: OptionalLabel
    expected_date: Date | None
    notes: OptionalText
    items: list[PurchaseOrderItem]
    status_history: Annotated[list[PurchaseOrderStatusReached], STATUS_HISTORY]


def _at_most_everything(pct: int) -> int:
    if pct > 100 * SCALE:
        raise validation_error("must be at most 100")
    return pct


class InboundRules(Input):
    """The rules for all receptions of a company."""

    over_receipt_pct: Annotated[
        Amount,
        AfterValidator(_at_most_everything),
        Field(
            description="How much more than ordered may be received, in percent. 0: no more than ordered; 100: "
            "up to twice as much as ordered."
        ),
    ]
