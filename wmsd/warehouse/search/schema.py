"""The queries of a search, and their results."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.fields import Id, Model, Quantity, SignedAmount
from wmsd.contract.list_queries import Query, QueryId
from wmsd.warehouse.search.search_text import LONGEST


class SearchQuery(Query):
    text: Annotated[
        str, Field(min_length=1, max_length=LONGEST, description="A code, a name, or part of a code or name.")
    ]

    @property
    def is_search(self) -> bool:
        return True


class ChoiceQuery(Query):
    kind: Literal["articles", "partners"]
    text: Annotated[
        str, Field(min_length=1, max_length=LONGEST, description="A code, a name, or part of a code or name.")
    ]
    warehouse_id: Annotated[
        QueryId | None, Field(description="The warehouse of the available quantities. If omitted, all warehouses.")
    ] = None

    @property
    def is_search(self) -> bool:
        return True


class Choice(Model):
    """A record that a user can choose in a form."""

    id: Id
    code: str
    name: str
    unit: str | None
    """`unit`, `unit_3pl` and `available` are None for partners."""
    unit_3pl: str | None
    available: SignedAmount | None
    """The available quantity. None if the caller may not read stock, or if the record is a partner."""


MOST_CODES: Final = 1000
"""The maximum number of codes in one request. It is also the maximum number of lines of a document."""


class ArticlesOfCodesQuery(Query):
    codes: Annotated[str, Field(description="Up to 1 000 codes, one per line.")]
    warehouse_id: Annotated[
        QueryId | None, Field(description="The warehouse of the available quantities. If omitted, all warehouses.")
    ] = None


class ArticleOfCode(Model):
    """The details that a form displays beside the code of an article."""

    code: str
    name: str
    active: bool
    unit: str
    unit_3pl: str | None
    um3pl_factor: Quantity
    available: SignedAmount | None
    """None if the caller may not read stock."""


class PartQuery(Query):
    kind: str
    """The name of a list in the browser (see `search_kinds.py`). The kind `stock` finds stock records by the codes
    of their articles.
    """
    field: str
    text: Annotated[str, Field(min_length=1, max_length=255)]

    @property
    def is_search(self) -> bool:
        return True


class IdsByPart(Model):
    """The records that contain the part in the field, in no particular order."""

    ids: list[Id]
    exact: list[Id]
    """The ids of records whose whole field equals the part."""
    has_more: bool
    """True if not all candidates were checked."""
    is_damaged: bool
    """True if the index is damaged, so records may be missing. If False, `has_more` means that too many records
    match.
    """


class Hit(Model):
    """A record, lot or serial that was found."""

    kind: str
    """The name of the list that shows such records in the browser."""
    id: Id
    """The id of the record. For a lot or a serial, it is the id of the article."""
    code: str
    """The code of the record. For a lot or a serial, it is the lot number or the serial."""
    says: str | None
    """The text beside the code, such as a name."""
    status: str | None
    found_in: str
    """The name of the field that contains the search text."""
    found: str
    """The content of the field `found_in`."""
    is_exact: bool
    """True if the whole field equals the search text."""


class SearchResults(Model):
    data: list[Hit]
    has_more: bool
    is_behind: bool
    """True if there are too many recent changes, so that some of them cannot be found yet."""
    is_being_rebuilt: bool
    """True if the index was damaged and is being built again. Until then many records cannot be found."""
