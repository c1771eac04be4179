"""The fields of a stored request, and of the queries for requests."""

from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.fields import Id, Model, Timestamp
from wmsd.contract.list_queries import CursorQuery, QueryId

STATUSES: Final = ("refused", "2xx", "3xx", "4xx", "5xx")
StatusClass = Literal["refused", "2xx", "3xx", "4xx", "5xx"]
LONGEST_ID: Final = 64


class RequestShown(Model):
    """A request in a list. `code` and `why` give the reason of a refusal, even if only a part of a batch or
    document was refused.
    """

    id: str
    at: Timestamp
    method: str
    path: Annotated[str, Field(description="The path with the query; secrets are masked.")]
    status: int
    operation: str
    code: str | None
    why: str | None
    who: str
    user_id: Id | None
    token_id: Id | None
    milliseconds: float


class PartShown(Model):
    """A request of a batch, refused or not. For a GraphQL document: a field that failed."""

    name: str
    status: int
    code: str
    message: str


class RequestDetail(RequestShown):
    address: str
    headers: Annotated[dict[str, str], Field(description="The request headers, except for headers with secrets.")]
    body: Annotated[
        str | None, Field(description="The first 8 kB of the request body, if it was JSON; secrets are masked.")
    ]
    body_bytes: int
    answer: str | None
    answer_bytes: int
    answer_headers: dict[str, str]
    parts: list[PartShown]
    left_out: Annotated[
        int, Field(description="The number of similar requests that were refused just before and are not stored.")
    ]
    remedy: Annotated[str | None, Field(description="What to do about the refusal now.")]


class RequestQuery(CursorQuery):
    """The filters of the list. `status` is the status of the answer. `refused` means every status from 400 on, and
    every batch or document with a refused part.
    """

    status: StatusClass | None = None
    operation: Annotated[str, Field(max_length=100)] | None = None
    token: QueryId | None = None
    code: Annotated[str, Field(max_length=40, json_schema_extra={"enum": list(STATUS_OF_CODE)})] | None = None
