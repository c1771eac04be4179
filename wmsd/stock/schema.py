"""A stock record's fields (decisions, section 2)."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.base.fields import (
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
from wmsd.base.listing import ChangedAfter, CursorQuery, Ids, PageQuery, Query, QueryId


class StockRecord(Model):
    """The stock of an article in a warehouse: `available = quantity - reserved - quarantined`."""

    id: Id
    article_id: Id
    article_code: Code
    article_name: Name
    warehouse_id: Id
    warehouse_code: Code
    quantity: Annotated[Amount, Field(description="The quantity in stock.")]
    reserved: Annotated[Amount, Field(description="The part that open sales orders hold.")]
    quarantined: Annotated[Amount, Field(description="The part in quarantine, which may not be sold.")]
    available: Annotated[Amount, Field(description="quantity - reserved - quarantined.")]
    created_at: Timestamp
    updated_at: Timestamp


class Lot(Model):
    lot_number: Label
    quantity: Amount
    available: Annotated[
        Amount, Field(description="The part that is neither in quarantine nor held by orders that name the lot.")
    ]


class DetailedStockRecord(StockRecord):
    """A stock record, with its lots and serials if the request asks for them."""

    ONLY_WHEN_ASKED = frozenset({"lots", "serials"})

    lots: Annotated[list[Lot], Field(description="The oldest first. Only with `detail=lots`.")]
    serials: Annotated[
        list[Label] | None,
        Field(description="Only with `detail=lots`; null when the article is not tracked by serials."),
    ]


class StockUpdated(Model):
    """The data of `stock.updated` (specification, section 6)."""

    article_id: Id
    article_code: Code
    warehouse_id: Id
    quantity: Amount
    available: Amount


class StockLow(StockUpdated):
    """The data of `stock.low`."""

    min_stock: Amount


class StockRules(Input):
    """What holds for all stock of a company."""

    min_stock: Annotated[
        Amount | None,
        Field(description="The available quantity at which `stock.low` is sent, for articles without their own."),
    ]


class StockFilters(Query):
    warehouse_id: QueryId | None = None
    article_id: QueryId | None = None
    article_code: str | None = None
    updated_since: Annotated[
        ChangedAfter | None, Field(description="Only records whose `updated_at` is after this moment.")
    ] = None


class StockQuery(StockFilters, PageQuery):
    pass


class StockCursorQuery(StockFilters, CursorQuery):
    detail: Literal["lots"] | None = None


class StockOfArticlesQuery(Query):
    """`most`: of each article, at most so many records, those with the smallest ids."""

    ids: Ids
    most: Annotated[int, Field(ge=1, le=500)] = 500
    detail: Literal["lots"] | None = None


class Reason(Input):
    """Why stock changes; the ledger keeps it."""

    reason: Name


class StockChange(Reason):
    """A change of stock by hand. `lot_number` limits it to a lot, `serials` to these units."""

    lot_number: OptionalLabel = None
    serials: Serials = []


class Adjustment(StockChange):
    """Either `by` or `to`. With serials, `by` is their number: above 0 they are added, below 0 removed."""

    by: SignedAmount | None = None
    to: Amount | None = None


class Quarantining(StockChange):
    """The goods that enter or leave quarantine: a quantity, serials, or everything."""

    quantity: Quantity | None = None
    everything: bool = False


class StockCountRow(Input):
    article_code: Code
    warehouse_code: Code
    quantity: Amount
    lot_number: OptionalLabel = None
    serial: OptionalLabel = None
    quarantined: Amount | None = None
    reason: Annotated[Name | None, EmptyIsNull] = None
