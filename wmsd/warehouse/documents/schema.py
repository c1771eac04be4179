"""The fields and filters that every kind of document has."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.fields import Amount, Code, Id, Model, OptionalLabel, Recorded, Timestamp
from wmsd.contract.list_queries import IdsQuery, Query, QueryId, UpdatedSince
from wmsd.tenants.companies.schema import Change

OwnCode = Annotated[
    Code | None,
    Field(
        description=(
            "Two documents of the same kind cannot have the same code. If you "
            "leave this field empty in a new document, wmsd assigns the next "
            "code."
        )
    ),
]
ExternalRef = Annotated[
    OptionalLabel,
    Field(
        description=(
            "The number of this record in another program, such as a web shop. Two records of "
            "the same kind cannot have the same number."
        )
    ),
]


class OfTheRequest:
    """Marks a field in the model of a line. A request may contain this field, but the field is not stored."""


class StatusReached(Model):
    """A status of a document, and the time when the document reached it."""

    status: str
    at: Timestamp


class DocumentChange(Model):
    """A change of a document by a user. `what` is "created", "moved" for a change of status, or "changed" for a
    change of fields or lines.

    `status` is the new status. For "created", it is the status with which the document was created. For "changed",
    it is null. `changes` is null except for "changed": it has the fields that changed.
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
