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
    code: Annotated[Code, Field(description="The SKU, unique in the company.")]
    name: Name
    unit: Annotated[Label, Field(description="The unit of measure of every quantity.")] = "pcs"
    description: OptionalText = None
    barcode: OptionalLabel = None
    barcodes: Annotated[list[Label], Field(max_length=50), AfterValidator(_unique)] = []
    unit_3pl: Annotated[
        OptionalLabel, Field(description="The unit in which you count received goods, such as a box.")
    ] = None
    um3pl_factor: Annotated[
        Quantity,
        Field(
            description="How many units are in one 3PL unit, such as 12 pieces in a box.",
            json_schema_extra={"default": 1},
        ),
    ] = SCALE
    min_stock: Annotated[
        Amount | None,
        Field(
            description="When the available quantity falls to this value or below, the stock is low, and "
            "wmsd sends the event `stock.low`."
        ),
    ] = None
    track_lot: bool = False
    track_serial: bool = False
    weight_kg: Amount | None = None
    length_mm: Amount | None = None
    width_mm: Amount | None = None
    height_mm: Amount | None = None
    over_receipt_pct: Annotated[
        Amount | None, Field(description="The percentage that may be received beyond the ordered quantity.")
    ] = None
    active: bool = True
    client_id: Id | None = None
    external_ref: Annotated[
        OptionalLabel,
        Field(
            description="The number of this record in your other program, such as a web "
            "shop. Unique in the company."
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
            description="Only articles whose available quantity in a warehouse is at most the minimum, or "
            "that have a minimum and were never in stock. Also needs the ability `stock:read`."
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
