"""The fields and filters that every kind of document has."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.fields import Amount, Code, Id, Model, OptionalLabel, Recorded, Timestamp
from wmsd.contract.list_queries import IdsQuery, Query, QueryId, UpdatedSince
from wmsd.tenants.companies.schema import Change

OwnCode = Annotated[
    Code | None, Field(description="Unique in the company. If empty, wmsd assigns the next code of the series.")
]
ExternalRef = Annotated[
    OptionalLabel,
    Field(description="The number of this record in another program, such as a web shop. Unique in the company."),
]


class OfTheRequest:
    """A mark for a field of a line that a request may contain, but that is not stored."""


class StatusReached(Model):
    """A status of a document, and the time when the document reached it."""

    status: str
    at: Timestamp


class DocumentChange(Model):
    """A change of a document by a user. `status` is the new status. For the creation, it is the status with which
    the document was created.
    """

    at: Timestamp
    actor: str
    what: Literal["created", "moved", "changed"]
    status: str | None
    changes: dict[str, Change] | None


class DocumentChanges(Model):
    """The creation of a document and its latest changes, the newest first. `more` is true if the document may have
    older changes that are not listed.
    """

    data: list[DocumentChange]
    more: bool


class OfArticleQuery(IdsQuery):
    article_id: QueryId


class DocumentOfArticle(Model):
    """The quantity of an article in a document, summed over all lines."""

    id: Id
    quantity: Amount


MOST_REACHED: Final = 100
"""The maximum number of statuses in a document's status history. Without a limit, the history of a document whose
status changes very often would make answers too large and fill the disk.
"""
STATUS_HISTORY: Final = Field(
    description="The statuses that the document reached, with their times: the first, and the last "
    f"{MOST_REACHED - 1}."
)


class DocumentShown(Recorded):
    """The fields that `GET` returns for every kind of document."""

    READ_ONLY = Recorded.READ_ONLY | {"status_history"}

    code: Code


class DocumentFilters(Query):
    external_ref: str | None = None
    code: str | None = None
    updated_since: UpdatedSince = None
