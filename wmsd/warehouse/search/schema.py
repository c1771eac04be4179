"""What is looked for, and what is found."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.fields import Id, Model, Quantity, SignedAmount
from wmsd.contract.list_queries import Query, QueryId
from wmsd.warehouse.search.search_text import LONGEST


class SearchQuery(Query):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST, description="A code, a name, or a part of one.")]

    @property
    def is_search(self) -> bool:
        return True


class ChoiceQuery(Query):
    kind: Literal["articles", "partners"]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST, description="A code, a name, or a part of one.")]
    warehouse_id: Annotated[
        QueryId | None, Field(description="Where the available amounts are; by default all.")
    ] = None

    @property
    def is_search(self) -> bool:
        return True


class Choice(Model):
    """A record that a form can name."""

    id: Id
    code: str
    name: str
    unit: str | None
    """Of an article; so is what follows."""
    unit_3pl: str | None
    available: SignedAmount | None
    """None where the caller may not read stock."""


MOST_CODES: Final = 1000
"""The lines of a document."""


class ArticlesOfCodesQuery(Query):
    codes: Annotated[str, Field(description="Up to 1 000 codes, each in a line of its own.")]
    warehouse_id: Annotated[
        QueryId | None, Field(description="Where the available amounts are; by default all.")
    ] = None


class ArticleOfCode(Model):
    """What stands beside the code of an article in a form."""

    code: str
    name: str
    active: bool
    unit: str
    unit_3pl: str | None
    um3pl_factor: Quantity
    available: SignedAmount | None
    """None where the caller may not read stock."""


class PartQuery(Query):
    kind: str
    """The name of a list at the pages, as in `search_kinds.py`; or `stock`, by the codes of its articles."""
    field: str
    text: Annotated[str, Field(min_length=1, max_length=255)]

    @property
    def is_search(self) -> bool:
        return True


class IdsByPart(Model):
    """The records of which a field has the part, not in the order of a list."""

    ids: list[Id]
    exact: list[Id]
    """Those of which it is the whole field."""
    has_more: bool
    """Whether not all were looked through."""
    is_damaged: bool
    """Whether that is because the index is damaged; otherwise too many have it."""


class Hit(Model):
    """A record, lot or serial that was found."""

    kind: str
    """The name of its list at the pages."""
    id: Id
    """Of a lot or a serial, that of its article."""
    code: str
    """Of a lot or a serial, its number."""
    says: str | None
    """What stands beside the code, such as a name."""
    status: str | None
    found_in: str
    """The field that has what was looked for."""
    found: str
    """What stands in that field."""
    is_exact: bool
    """Whether the whole field is what was looked for."""


class SearchResults(Model):
    data: list[Hit]
    has_more: bool
    is_behind: bool
    """Whether so much has changed lately that some of it cannot be found yet."""
    is_being_rebuilt: bool
    """Whether the index was damaged, and is built again: much cannot be found meanwhile."""
