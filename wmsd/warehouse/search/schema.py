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
    """None for partners. The same is true for the two fields below."""
    unit_3pl: str | None
    available: SignedAmount | None
    """None if the caller may not read stock."""


MOST_CODES: Final = 1000
"""The maximum number of lines of a document."""


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
    """The name of a list in the browser (see `search_kinds.py`). With `stock`, stock records are found by the
    codes of their articles.
    """
    field: str
    text: Annotated[str, Field(min_length=1, max_length=255)]

    @property
    def is_search(self) -> bool:
        return True


class IdsByPart(Model):
    """The records with a field that contains the part, in no particular order."""

    ids: list[Id]
    exact: list[Id]
    """The ids of records whose whole field equals the part."""
    has_more: bool
    """True if not all candidates were checked."""
    is_damaged: bool
    """True if the index is damaged, so that records may be missing. Otherwise `has_more` means that too many
    records match.
    """


class Hit(Model):
    """A record, lot or serial that was found."""

    kind: str
    """The name of the record's list in the browser."""
    id: Id
    """For a lot or a serial, the id of its article."""
    code: str
    """For a lot or a serial, its number."""
    says: str | None
    """The text beside the code, such as a name."""
    status: str | None
    found_in: str
    """The field that contains the search text."""
    found: str
    """The content of the field `found_in`."""
    is_exact: bool
    """True if the whole field equals the search text."""


class SearchResults(Model):
    data: list[Hit]
    has_more: bool
    is_behind: bool
    """True if there are so many recent changes that some of them cannot be found yet."""
    is_being_rebuilt: bool
    """True if the index was damaged and is being built again. Until then many records cannot be found."""
