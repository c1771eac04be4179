"""A request as an interface passes it to the dispatcher, and the answer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Caller, Company
from wmsd.contract.operation import Operation

MOST_KEPT: Final = 8 * 1024
"""How much of a body, and of the answer that refuses it, the history of requests keeps, in bytes."""


class Loaded(NamedTuple):
    """The JSON object of a body, and the errors found in it by field path."""

    document: dict[str, object]
    text_errors: FieldErrors
    is_large: bool = False
    """Whether it is decoded on a thread, because that takes long."""


class Part(NamedTuple):
    """What became of a part of a request: of one request of a batch, or of a field of a GraphQL document."""

    name: str
    status: int
    code: str = ""
    message: str = ""


class Piece(NamedTuple):
    """A piece of an answer, and for how many seconds of the processor a thread has read it."""

    text: bytes
    seconds: float


LoadBody = Callable[[], Awaitable[Loaded]]


@dataclass(slots=True)
class Call:
    """A request, unchecked. The dispatcher adds the caller."""

    operation: Operation
    method: str
    target: str
    """The requested path."""
    address: str
    request_id: str
    origin: str = ""
    """The scheme and the host that the caller has reached, as `https://wms.example.com`; "" when it names none."""
    route_headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every answer of its route."""
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    load_body: LoadBody | None = None
    token: str | None = None
    session: str | None = None
    """The secret of the session of a person at the pages, instead of a token."""
    is_tried: bool = False
    """Whether the person tries out with it what a program would send, so that it counts as a program's."""
    asks_by_itself: bool = False
    """Whether a page of this session asks, without its person."""
    is_long: bool = False
    """Whether it reads much: on a thread from the beginning, so that others need not wait for the event loop."""
    within: Sequence[int] | None = None
    """The ids among which a list is; None: among all."""
    takes_pieces: bool = False
    """Whether its answer can be sent in pieces."""
    is_brief: bool = False
    """Whether lists give little for each field that can be large: of lines, how many there are."""
    agent: str = ""
    """The program that asks, by its own word."""
    company: str | None = None
    operator: str | None = None
    idempotency_key: str | None = None
    key_suffix: str = ""
    """Tells the requests of a batch apart that share its key. No key of a client can end with it."""
    cursor_epoch: str | None = None
    """The epoch of the company's history that its cursor is of, once decoded; None without a cursor."""
    cursor_began: str | None = None
    """What its walk began with, as cursors say it; None where a walk can begin with nothing."""
    if_match: str | None = None
    if_none_match: str | None = None
    caller: Caller | None = None
    """The caller, once admitted."""
    tenant: Company | None = None
    """The company that the caller was admitted to."""
    known: tuple[Caller, Company] | None = None
    """Who asks, and for which company that they may use, even if the operation is refused then."""
    sent: bytes = b""
    """The beginning of a body that is JSON, as it was sent."""
    body_bytes: int = 0
    parts: Sequence[Part] = ()
    accept: str | None = None
    """The Accept header."""
    wants_cursors: bool = False
    """Whether the answer has a cursor for each record of a list, not only for the last."""
    thread_seconds: float = 0.0
    """Of the processor, that threads have worked for it."""
    held_bytes: int = 0
    """The size of a large body, counted as long as the request is under way."""
    counted: tuple[str, int] | None = None
    """The key and the limit of the window that it was counted in."""
    counted_before: Sequence[str] = ()
    """The keys of the windows in which the form that this write came with was counted."""
    is_counted: bool = False
    """Whether the limit has counted it already: the first request of a batch is counted with the batch."""
    has_headers: bool = True
    """Whether the headers of the answer reach the caller. Those of GraphQL's operations do not."""
    is_inner: bool = False
    """Whether another request carries it, so that a refusal does not count against the address a second time."""

    @property
    def is_of_page(self) -> bool:
        """Whether a page asks for its person."""
        return self.session is not None and not self.is_tried


@dataclass(slots=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str]
    pieces: Callable[[], AsyncIterator[Piece]] | None = None
    """Reads the body in pieces, where it is too large to be read at once. `body` is empty then."""


def refusal(problem: Problem, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(problem.status, dumps(problem.body()).encode(), {**(headers or {}), **problem.headers})
