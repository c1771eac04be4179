"""The data of each event, as a model."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from wmsd.warehouse.articles.schema import Article
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.packaging.schema import PackagingMovementRecorded
from wmsd.warehouse.receptions.schema import ReceptionPartial
from wmsd.warehouse.stock.schema import StockLow, StockUpdated

EVENT_DATA: Final[Mapping[str, type[BaseModel]]] = {
    "article.created": Article,
    "article.updated": Article,
    "article.deleted": Article,
    **{
        f"{kind.table.entity}.{happened}": data
        for kind in DOCUMENTS
        for happened, data in (
            ("created", kind.table.shown),
            ("updated", kind.table.shown),
            ("status_changed", kind.table.status_changed),
        )
    },
    "reception.partial": ReceptionPartial,
    "stock.updated": StockUpdated,
    "stock.low": StockLow,
    "packaging.movement_recorded": PackagingMovementRecorded,
}
