"""The classes for a request that an interface passes to the dispatcher, and for the dispatcher's answer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import Operation

MOST_KEPT: Final = 8 * 1024
"""How many bytes of each body the request history stores. It stores bodies of requests, and of answers that refuse
a request.
"""


class Loaded(NamedTuple):
    """The JSON object of a body, and the errors that the parser found in it, by field path."""

    document: dict[str, object]
    text_errors: FieldErrors
    is_large: bool = False
    """True if the body is decoded on a thread, because decoding takes long."""


class Part(NamedTuple):
    """The outcome of one part of a request. A part is one request of a batch, or one field of a
    GraphQL document.
    """

    name: str
    status: int
    code: str = ""
    message: str = ""


class Piece(NamedTuple):
    """A piece of an answer, and the processor seconds that a thread spent reading the piece."""

    text: bytes
    seconds: float


LoadBody = Callable[[], Awaitable[Loaded]]


@dataclass(slots=True)
class Call:
    """A request that is not checked yet. The dispatcher adds the caller."""

    operation: Operation
    method: str
    target: str
    """The path of the request, without the query."""
    address: str
    request_id: str
    origin: str = ""
    """The scheme and host that the caller used, such as `https://wms.example.com`; "" if the request names no
    host.
    """
    route_headers: Mapping[str, str] = field(default_factory=dict)
    """The headers that every answer of this route has."""
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    load_body: LoadBody | None = None
    token: str | None = None
    session: str | None = None
    """The secret of a person's browser session, sent instead of a token."""
    is_tried: bool = False
    """True if a person tries out an API request in the browser. The request then counts as a request of a program,
    not of a page.
    """
    asks_by_itself: bool = False
    """True if an open page sends the request automatically, without an action of the person."""
    is_long: bool = False
    """True if the call reads much data. Such a call reads on a thread from the start, so that it does not block
    the event loop.
    """
    within: Sequence[int] | None = None
    """If set, a list only returns records with these ids."""
    takes_pieces: bool = False
    """True if the answer can be sent in pieces."""
    is_brief: bool = False
    """True if lists return a short form of fields that can be large. For example, an order then has the number of
    its lines instead of the lines.
    """
    needed_fields: frozenset[str] | None = None
    """The fields that the caller needs of the records of a list. Lists may leave out other fields. None means all
    fields.
    """
    agent: str = ""
    """The name of the calling program, as the program states it."""
    company: str | None = None
    operator: str | None = None
    idempotency_key: str | None = None
    key_suffix: str = ""
    """A text that is added to the idempotency key of a batch or a mutation, to get a separate key for each request
    inside. The key that a client sends can never end with such a text.
    """
    cursor_epoch: str | None = None
    """The epoch of the company's history in the decoded cursor; None if the request has no cursor."""
    cursor_began: str | None = None
    """The start parameters of the list, in the form in which a cursor contains them. None if the list has no start
    parameters.
    """
    if_match: str | None = None
    if_none_match: str | None = None
    caller: Caller | None = None
    """The caller, set after admission."""
    tenant: Company | None = None
    """The company that the request uses, set after admission."""
    known: tuple[Caller, Company] | None = None
    """The caller, and the company that the request names and the caller may use. It is set as soon as both are
    known, even if the operation is refused later.
    """
    sent: bytes = b""
    """The first bytes of a JSON body, as the client sent them."""
    body_bytes: int = 0
    parts: Sequence[Part] = ()
    accept: str | None = None
    """The Accept header."""
    wants_cursors: bool = False
    """True if the answer has a cursor for each record of a list, not only for the last record."""
    beside_seconds: float = 0.0
    """The seconds that this call has taken outside of the task of its request: on threads, and in units of work on
    the event loop.
    """
    held_bytes: int = 0
    """The size of a large body. The size counts against the company's byte budget until the request ends."""
    counted: tuple[str, int] | None = None
    """The key and the limit of the rate limit window in which this call was counted."""
    counted_before: Sequence[str] = ()
    """A page may send reads to prepare this write. These are the keys of the rate limit windows that counted the
    reads.
    """
    is_counted: bool = False
    """True if the rate limit has already counted this call. This is the case for the first request of a batch,
    because it is counted together with the batch.
    """
    has_headers: bool = True
    """True if the caller receives the headers of the answer. A GraphQL client receives no headers for the single
    operations of its document.
    """
    is_inner: bool = False
    """True if the call is part of another request, such as a batch. If the call is refused, only the refusal of
    the whole request counts against the client's address.
    """

    @property
    def is_of_page(self) -> bool:
        """True for a request that a page sends for the signed-in person."""
        return self.session is not None and not self.is_tried


@dataclass(slots=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str]
    pieces: Callable[[], AsyncIterator[Piece]] | None = None
    """A function that reads the body in pieces if the body is too large to be read in one step. `body` is then
    empty.
    """


def refusal(problem: Problem, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(problem.status, dumps(problem.body()).encode(), {**(headers or {}), **problem.headers})
