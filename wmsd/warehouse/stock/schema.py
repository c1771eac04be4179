"""The fields of a stock record (decisions, section 2)."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.fields import (
    Amount,
    Code,
    EmptyIsNull,
    Id,
    Input,
    Label,
    Model,
    Name,
    OptionalLabel,
    Quantity,
    Serials,
    SignedAmount,
    Timestamp,
)
from wmsd.contract.list_queries import (
    CursorQuery,
    Ids,
    PageQuery,
    Query,
    QueryFlag,
    QueryId,
    QueryTimestamp,
    UpdatedSince,
)

MovementKind = Literal["loading", "unloading", "receipt", "return", "count", "adjustment", "quarantine", "release"]
"""The kind of a movement. The guide's page on stock describes the cause of each kind."""


class StockRecord(Model):
    """The stock of an article in a warehouse: `available = quantity - reserved - quarantined`."""

    id: Id
    article_id: Id
    article_code: Code
    article_name: Name
    warehouse_id: Id
    warehouse_code: Code
    quantity: Annotated[Amount, Field(description="The quantity in stock.")]
    reserved: Annotated[Amount, Field(description="The quantity reserved by open sales orders.")]
    quarantined: Annotated[Amount, Field(description="The quantity in quarantine, which must not be sold.")]
    available: Annotated[Amount, Field(description="quantity - reserved - quarantined.")]
    created_at: Timestamp
    updated_at: Timestamp


class Lot(Model):
    lot_number: Label
    quantity: Amount
    available: Annotated[
        Amount,
        Field(description="The quantity that is neither in quarantine nor reserved by orders that name the lot."),
    ]


class DetailedStockRecord(StockRecord):
    """A stock record, with its lots and serials if the request asks for them."""

    ONLY_WHEN_ASKED = frozenset({"lots", "serials"})

    lots: Annotated[list[Lot], Field(description="The lots, the oldest first. Only with `detail=lots`.")]
    serials: Annotated[
        list[Label] | None,
        Field(description="Only with `detail=lots`. Null if the article is not tracked by serials."),
    ]


class StockUpdated(Model):
    """The data of `stock.updated`."""

    article_id: Id
    article_code: Code
    warehouse_id: Id
    quantity: Amount
    available: Amount


class StockLow(StockUpdated):
    """The data of `stock.low`."""

    min_stock: Amount


class StockRules(Input):
    """The rules for all stock of a company."""

    min_stock: Annotated[
        Amount | None,
        Field(
            description="If the available quantity is at or below this number, the stock is low: it is "
            "listed on the page Today, and wmsd sends the event `stock.low`. If empty, only articles "
            "with their own minimum stock can be low."
        ),
    ] = None


class StockFilters(Query):
    warehouse_id: QueryId | None = None
    article_id: QueryId | None = None
    article_code: str | None = None
    low: Annotated[
        QueryFlag | None,
        Field(
            description="True: only stock records whose available quantity is at most "
            "the article's `min_stock`. False: only the others."
        ),
    ] = None
    sales_order_id: Annotated[
        QueryId | None, Field(description="Only stock records from which this order has reserved goods.")
    ] = None
    updated_since: UpdatedSince = None


class StockQuery(StockFilters, PageQuery):
    pass


class StockCursorQuery(StockFilters, CursorQuery):
    detail: Literal["lots"] | None = None


class StockOfArticlesQuery(Query):
    """The stock records of some articles. `most` is the maximum number of records per article. If an article has
    more, the records with the smallest ids are returned.
    """

    ids: Ids
    most: Annotated[int, Field(ge=1, le=500)] = 500
    detail: Literal["lots"] | None = None


class Reason(Input):
    """The reason for a change of stock. The ledger stores the reason."""

    reason: Name


class StockChange(Reason):
    """A change of stock by hand. With `lot_number`, only the stock of this lot changes. With `serials`, only the
    stock of these serials changes.
    """

    lot_number: OptionalLabel = None
    serials: Serials = []


class Adjustment(StockChange):
    """A change by the difference `by`, or to the total `to`. With serials, `by` is the number of serials. It is
    positive to add serials, and negative to remove them.
    """

    by: Annotated[
        SignedAmount | None,
        Field(
            description=(
                "The change of the quantity: positive to add, negative "
                "to remove. With serials, enter the number of serials."
            )
        ),
    ] = None
    to: Annotated[
        Amount | None, Field(description=("The new total quantity, including reserved and quarantined goods."))
    ] = None


class Quarantining(StockChange):
    """The goods that enter or leave quarantine: a quantity, serials, or everything."""

    quantity: Quantity | None = None
    everything: Annotated[
        bool,
        Field(
            description=(
                "All goods of this article in this warehouse or, if you enter a lot number, all goods of this lot."
            )
        ),
    ] = False


class StockCountRow(Input):
    article_code: Code
    warehouse_code: Code
    quantity: Amount
    lot_number: OptionalLabel = None
    serial: OptionalLabel = None
    quarantined: Amount | None = None
    reason: Annotated[Name | None, EmptyIsNull] = None


class StockMovement(Model):
    """A movement of a stock record in the ledger."""

    id: Id
    occurred_at: Timestamp
    kind: MovementKind
    quantity: Annotated[SignedAmount, Field(description="The change of the quantity.")]
    quarantined: Annotated[SignedAmount, Field(description="The change of the quantity in quarantine.")]
    destroyed: Annotated[
        Amount, Field(description="The returned quantity that was destroyed. It never enters stock.")
    ]
    lot_number: Label | None
    serial: Label | None
    document_id: Id | None
    reason: Name | None
    actor: Name


class StockMovementQuery(CursorQuery):
    """The movements of a stock record. If given, `after` and `until` limit their ids: greater than `after`, and at
    most `until`.
    """

    kind: MovementKind | None = None
    after: QueryId | None = None
    until: QueryId | None = None


class ExplanationQuery(Query):
    at: Annotated[QueryTimestamp | None, Field(description="A date and time in the past. If omitted, now.")] = None


class StockGroup(Model):
    """The movements of one kind. `lot_number`, `reason` and `actor` are null if the movements have different
    values.
    """

    kind: MovementKind
    quantity: SignedAmount
    quarantined: SignedAmount
    destroyed: Amount
    movements: int
    documents: int
    document_ids: Annotated[
        list[Id], Field(description="The ids of one or two documents. Empty if there are more.")
    ]
    first_at: Timestamp
    last_at: Timestamp
    lot_number: Label | None
    reason: Name | None
    actor: Name | None


class LastCount(Model):
    """The stock count at the beginning of an explanation."""

    at: Timestamp
    difference: Annotated[SignedAmount, Field(description="The change of the quantity by the count.")]
    document_id: Annotated[
        Id | None, Field(description="The id of the count. Null if the count was imported from a file.")
    ]
    reason: Name | None
    actor: Name | None


class StockLevel(Model):
    at: Timestamp
    quantity: Annotated[Amount, Field(description="The quantity from this date and time on.")]


class StockExplanation(Model):
    """The explanation of a quantity: `quantity = begins_with + the quantities of all groups`.

    `count` is null and `begins_with` is 0 if the stock was never counted. The groups contain the movements whose
    ids are greater than `after` and at most `until`. `levels` has at most 121 entries, and the first one is the
    beginning of the chart. `reserved`, `available` and `holders` are null at a past moment, because past
    reservations are not recorded.
    """

    id: Id
    article_id: Id
    article_code: Code
    article_name: Name
    unit: Label
    warehouse_id: Id
    warehouse_code: Code
    warehouse_name: Name
    at: Timestamp
    now: Annotated[Timestamp, Field(description="The date and time of this answer.")]
    quantity: Amount
    quarantined: Amount
    reserved: Amount | None
    available: Amount | None
    holders: Annotated[int | None, Field(description="The number of documents that have reserved this stock.")]
    min_stock: Amount | None
    begins_with: Amount
    count: LastCount | None
    groups: list[StockGroup]
    after: int
    until: int
    levels: list[StockLevel]
    created_at: Timestamp


class StockHolder(Model):
    """An open document that reserves stock. `kind` is the kind of document, such as `sales_order`."""

    kind: Label
    id: Id
    quantity: Quantity


class ArticleMovement(StockMovement):
    """A movement of an article, in any warehouse."""

    stock_id: Id
    warehouse_id: Id
    warehouse_code: Code


class ArticleMovementQuery(CursorQuery):
    """The movements of an article. For a lot or a serial, `direction` limits them to goods that came in (`in`) or
    went out (`out`).
    """

    lot_number: str | None = None
    serial: str | None = None
    direction: Literal["in", "out"] | None = None


class PartPlace(Model):
    """The quantity of a lot or a serial in one warehouse."""

    stock_id: Id
    warehouse_id: Id
    warehouse_code: Code
    lot_number: Label | None
    quantity: Amount
    reserved: Annotated[
        Amount, Field(description="The quantity reserved by open documents that name the lot or serial.")
    ]
    quarantined: Amount
    available: Annotated[Amount, Field(description="quantity - reserved - quarantined.")]


class StockPart(Model):
    """The quantities of a lot or a serial in each warehouse, and the open documents that reserve it by name."""

    article_id: Id
    article_code: Code
    article_name: Name
    unit: Label
    lot_number: Label | None
    serial: Label | None
    places: list[PartPlace]
    holders: Annotated[list[StockHolder], Field(description="The oldest documents, at most 20.")]
    held_by: Annotated[int, Field(description="The number of documents that have reserved the lot or serial.")]


class LotInStock(Model):
    """A lot of an article in a warehouse."""

    lot_number: Label
    stock_id: Id
    warehouse_id: Id
    warehouse_code: Code
    quantity: Amount
    reserved: Annotated[Amount, Field(description="The quantity reserved by open documents that name the lot.")]
    quarantined: Amount
    available: Amount


class LotsQuery(CursorQuery):
    warehouse_id: QueryId | None = None


class SerialInStock(Model):
    serial: Label
    stock_id: Id
    warehouse_id: Id
    warehouse_code: Code
    lot_number: Label | None
    is_reserved: bool
    is_quarantined: bool


class SerialsQuery(Query):
    after: Annotated[str, Field(description="Only serials that come after this one in alphabetical order.")] = ""
