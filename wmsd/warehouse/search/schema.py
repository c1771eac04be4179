"""What is looked for, and what is found."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import Id, Model
from wmsd.contract.list_queries import Query
from wmsd.warehouse.search.search_text import LONGEST


class SearchQuery(Query):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST, description="A code, a name, or a part of one.")]

    @property
    def is_search(self) -> bool:
        return True


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
