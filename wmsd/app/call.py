"""A request as an interface hands it to the door, and the answer that it gets back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wmsd.base.context import Caller, Company
from wmsd.base.operation import Operation
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.strict_json import dumps


class Loaded(NamedTuple):
    """The object in a body, and its errors by field path."""

    document: dict[str, object]
    text_errors: FieldErrors
    is_large: bool = False
    """Whether what is done with all of it is to be done beside the event loop."""


LoadBody = Callable[[], Awaitable[Loaded]]


@dataclass(slots=True)
class Call:
    """What was sent, unchecked; and who sent it, once the door knows."""

    operation: Operation
    method: str
    target: str
    """The path that was asked for."""
    address: str
    request_id: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    load_body: LoadBody | None = None
    token: str | None = None
    company: str | None = None
    operator: str | None = None
    idempotency_key: str | None = None
    key_suffix: str = ""
    """What tells the requests of a batch apart that share its key; no key can end with it."""
    if_match: str | None = None
    caller: Caller | None = None
    """Who it is, once the door has admitted it."""
    tenant: Company | None = None
    """The company that it was admitted to."""
    accept: str | None = None
    """The header Accept."""
    wants_cursors: bool = False
    """Whether a cursor is to be told of each record of a list, not only of the last."""
    held_bytes: int = 0
    """Of a large body, as long as the request is under way."""
    is_counted: bool = False
    """Whether the limit has counted it already: a batch counts as its first request."""
    is_inner: bool = False
    """Whether its refusal uses up no address: another request, which carries it, stands for it."""


@dataclass(slots=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str]


def refusal(problem: Problem, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(problem.status, dumps(problem.body()).encode(), {**(headers or {}), **problem.headers})
