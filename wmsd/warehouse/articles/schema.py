"""The fields of an article (decisions, section 2)."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from wmsd.base.quantity import SCALE
from wmsd.contract.fields import (
    Amount,
    Code,
    Id,
    Input,
    Label,
    Name,
    OptionalLabel,
    OptionalText,
    Quantity,
    Recorded,
    validation_error,
)
from wmsd.contract.list_queries import (
    ChangesQuery,
    CursorQuery,
    PageQuery,
    Query,
    QueryFlag,
    SortedBy,
    UpdatedSince,
)
from wmsd.warehouse.articles.rules import MOST_WORDS


def _unique(values: list[str]) -> list[str]:
    if len(set(values)) != len(values):
        raise validation_error("must not contain the same barcode twice")
    return values


class ArticleFields(Input):
    code: Annotated[Code, Field(description="The code of the article (SKU), unique in the company.")]
    name: Name
    unit: Annotated[Label, Field(description="The unit of all quantities of this article, such as pcs.")] = "pcs"
    description: OptionalText = None
    barcode: OptionalLabel = None
    barcodes: Annotated[list[Label], Field(max_length=50), AfterValidator(_unique)] = []
    unit_3pl: Annotated[
        OptionalLabel, Field(description="The unit in which goods arrive, such as a box (3PL unit).")
    ] = None
    um3pl_factor: Annotated[
        Quantity,
        Field(
            description="How many units are in one receiving unit, such as 12 pieces in a box.",
            json_schema_extra={"default": 1},
        ),
    ] = SCALE
    min_stock: Annotated[
        Amount | None,
        Field(
            description=(
                "If the available quantity is at or below this number, the stock is low: the page Today shows "
                "this, and wmsd sends the event `stock.low`. If empty, the minimum stock of the company "
                "applies."
            )
        ),
    ] = None
    track_lot: Annotated[bool, Field(description="Each reception of the article must name its lots.")] = False
    track_serial: Annotated[
        bool, Field(description="Each reception of the article must name a serial for each unit.")
    ] = False
    weight_kg: Amount | None = None
    length_mm: Amount | None = None
    width_mm: Amount | None = None
    height_mm: Amount | None = None
    over_receipt_pct: Annotated[
        Amount | None,
        Field(
            description=(
                "How much more than ordered may be received, in percent. If empty, the percentage of the company "
                "applies."
            )
        ),
    ] = None
    active: Annotated[bool, Field(description="Inactive articles cannot be added to documents.")] = True
    client_id: Annotated[
        Id | None,
        Field(
            description=(
                "Not the customer. The owner of the goods, if the goods do not belong to the company itself."
            )
        ),
    ] = None
    external_ref: Annotated[
        OptionalLabel,
        Field(
            description=(
                "The number of this record in another program, such as a web shop. Two records "
                "of the same kind cannot have the same number."
            )
        ),
    ] = None


class ArticleChanges(ArticleFields, partial=True):
    """The fields to change. Other fields keep their values."""


class Article(ArticleFields, Recorded):
    """An article."""


MAX_SEARCH = 64


def _words(value: object) -> object:
    if isinstance(value, str) and not any(map(str.isalnum, value)):
        raise validation_error("must contain a letter or a digit; leave the search out to list everything")
    return value


Search = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_SEARCH,
        description=f"Words, or beginnings of words, in code, name or barcodes. Only the {MOST_WORDS} "
        "longest words count.",
    ),
    BeforeValidator(_words),
]


class OwnArticleFilters(Query):
    NEEDS = {"low": "stock:read"}

    search: Search | None = None
    code: str | None = None
    barcode: Annotated[
        str | None,
        Field(max_length=100, description="Only articles with exactly this value as `barcode` or in `barcodes`."),
    ] = None

    low: Annotated[
        QueryFlag | None,
        Field(
            description=(
                "Only articles with low stock: their available quantity in a warehouse is at or below the "
                "minimum, or they have a minimum and were never in stock. Also needs the ability `stock:read`."
            )
        ),
    ] = None

    @property
    def is_search(self) -> bool:
        return self.search is not None or self.barcode is not None


class ArticleFilters(ChangesQuery, OwnArticleFilters):
    pass


class ArticlePages(OwnArticleFilters, PageQuery):
    sort: Annotated[str, SortedBy("id", "code", "updated_at")] = "id"


class ArticleQuery(ChangesQuery, ArticlePages):
    pass


class ArticleCursorQuery(ArticleFilters, CursorQuery):
    pass


class SparseArticlePages(ArticlePages):
    fields: Annotated[
        str | None,
        Field(max_length=1000, description="Names of fields, separated by commas; `id` is always sent."),
    ] = None


class SparseArticleQuery(ChangesQuery, SparseArticlePages):
    pass


class ArticleSyncQuery(CursorQuery):
    BEGINS = frozenset({"updated_since"})

    updated_since: UpdatedSince = None
