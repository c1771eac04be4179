"""A stock record's fields (decisions, section 2)."""

from typing import Annotated

from pydantic import Field

from wmsd.base.fields import Amount, Code, Id, Model, Name, Timestamp
from wmsd.base.listing import CursorQuery, Moment, PageQuery, Query, QueryId


class StockRecord(Model):
    """What a warehouse holds of an article: `available = quantity - reserved - quarantined`."""

    id: Id
    article_id: Id
    article_code: Code
    article_name: Name
    warehouse_id: Id
    warehouse_code: Code
    quantity: Annotated[Amount, Field(description="What is there.")]
    reserved: Annotated[Amount, Field(description="What open sales orders hold.")]
    quarantined: Annotated[Amount, Field(description="What may not be sold yet.")]
    available: Annotated[Amount, Field(description="quantity - reserved - quarantined.")]
    created_at: Timestamp
    updated_at: Timestamp


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


class StockFilters(Query):
    warehouse_id: QueryId | None = None
    article_id: QueryId | None = None
    updated_since: Moment | None = None


class StockQuery(StockFilters, PageQuery):
    pass


class StockCursorQuery(StockFilters, CursorQuery):
    pass
