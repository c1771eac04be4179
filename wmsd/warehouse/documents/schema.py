"""The fields and filters that every kind of document has."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.fields import Amount, Code, Id, Model, OptionalLabel, Recorded, Timestamp
from wmsd.contract.list_queries import IdsQuery, Query, QueryId, UpdatedSince
from wmsd.tenants.companies.schema import Change

OwnCode = Annotated[Code | None, Field(description="Unique in the company; by default the next of the series.")]
ExternalRef = Annotated[OptionalLabel, Field(description="The integrator's own number, unique in the company.")]


class OfTheRequest:
    """Marks a field of a line that tells of the request, and is not stored."""


class StatusReached(Model):
    """`status` is one of the kind's."""

    status: str
    at: Timestamp


class DocumentChange(Model):
    """What somebody has done with a document. `status`: that it was made in, or moved to."""

    at: Timestamp
    actor: str
    what: Literal["created", "moved", "changed"]
    status: str | None
    changes: dict[str, Change] | None


class DocumentChanges(Model):
    """The last ones, the newest first, and who made it. `more`: whether others may be missing between."""

    data: list[DocumentChange]
    more: bool


class OfArticleQuery(IdsQuery):
    article_id: QueryId


class DocumentOfArticle(Model):
    """How much of an article a document has in all its lines."""

    id: Id
    quantity: Amount


MOST_REACHED: Final = 100
"""Statuses that a document tells of: one that is moved to and fro for ever would fill answers and the disk."""
STATUS_HISTORY: Final = Field(
    description=f"Each status reached, and when: the first, and the last {MOST_REACHED - 1}."
)


class DocumentShown(Recorded):
    """What `GET` shows of every kind of document."""

    READ_ONLY = Recorded.READ_ONLY | {"status_history"}

    code: Code


class DocumentFilters(Query):
    external_ref: str | None = None
    code: str | None = None
    updated_since: UpdatedSince = None
