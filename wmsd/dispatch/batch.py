"""`POST /api/v2/batch`: several requests in one, each through the dispatcher (decisions, section 4).

Consecutive writes are started together and share commits. Therefore fifty writes wait for the disk a few times
instead of fifty times. A read waits until the writes before it have ended, so that it sees their changes.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field
from yarl import URL

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem, invalid, unavailable
from wmsd.base.strict_json import canonical, dumps, fields_in, printable, text_errors_of
from wmsd.contract.fields import Input, Model, validation_error
from wmsd.contract.operation import MAX_BODY, operation
from wmsd.contract.route import Route, RouteTable
from wmsd.dispatch import idempotency
from wmsd.dispatch.call import Call, Loaded, Part, Reply, refusal
from wmsd.dispatch.dispatcher import Dispatcher, PendingCall
from wmsd.dispatch.large_bodies import LARGE, LargeBodies
from wmsd.dispatch.limits.rate_limits import RATE_HEADERS

PREFIX: Final = "/api/v2/"
BATCH: Final = "/api/v2/batch"
MOST_REQUESTS: Final = 50
MAX_BATCH_BODY: Final = 4 * MAX_BODY
LONGEST_METHOD: Final = 20
LONGEST_PATH: Final = 4000
MOST_BYTES: Final = 16_000_000
"""The maximum size of all answers of a batch together."""
TOO_LARGE: Final = (
    f"The answers of this batch are larger than {MOST_BYTES // 10**6} MB. This request was not "
    "carried out; send it in another batch."
)
MOST_UNDER_WAY: Final = 16
"""The maximum number of writes that share a commit. It is limited because the size of their answers is not known
in advance.
"""
MOST_SECONDS: Final = 30.0
"""After this many seconds, the remaining requests of a batch are refused, because clients do not wait longer."""
TOOK_TOO_LONG: Final = (
    f"The batch took more than {MOST_SECONDS:.0f} s. This request was not carried out; send it in another batch."
)
HEADERS_OF_INTEREST: Final = (
    *("Location", "ETag", "Retry-After", "Allow"),
    *(idempotency.REPLAYED, idempotency.CUT, "Deprecation", "Sunset"),
)
LONGEST_SHOWN: Final = 400
REFUSED: Final = re.compile(r'\{"message":"((?:[^"\\]|\\.)*)","code":"(\w+)"')
"""The beginning of the JSON text of an answer that refuses a request."""
IN_A_BODY: Final = re.compile(r"requests\.\d+\.body(\.|$)")


def _headers(value: object) -> object:
    if not isinstance(value, dict):
        return value
    if len(value) > 1:
        raise validation_error(f"can contain only the header {idempotency.HEADER}, and only once")
    for name, text in value.items():
        if str(name).lower() != idempotency.HEADER.lower():
            raise validation_error(f"can contain only the header {idempotency.HEADER}, not {printable(str(name))}")
        if not isinstance(text, str):
            raise validation_error(f"must have a string as the value of {idempotency.HEADER}")
    return dict.fromkeys([idempotency.HEADER], *value.values()) if value else {}


class SubRequest(Input):
    method: Annotated[str, Field(description="GET, POST, PUT, PATCH or DELETE.")]
    path: Annotated[
        str, Field(description=f"A path of version 2, with its query; at most {LONGEST_PATH} characters.")
    ]
    body: Any = None
    headers: Annotated[dict[str, str], BeforeValidator(_headers), Field(description="Only Idempotency-Key.")] = {}


class BatchRequest(Input):
    MOST_FIELDS: ClassVar[int] = 11 * Input.MOST_FIELDS

    requests: Annotated[list[SubRequest], Field(min_length=1, max_length=MOST_REQUESTS)]

    @classmethod
    def own_text_errors(cls, text_errors: FieldErrors) -> FieldErrors:
        """Return only the errors outside the bodies of the requests, because each request reports the errors in
        its own body.
        """
        return {path: sentences for path, sentences in text_errors.items() if not IN_A_BODY.match(path)}


class SubResponse(Model):
    status: Annotated[
        int,
        Field(
            description="The status, as if the request was sent alone. 404, 405 or 422 also if the path is "
            "not an address of version 2. 413 or 503 if the batch became too large or took too "
            "long: the request was not carried out, and can be sent in another batch."
        ),
    ]
    body: Any
    headers: dict[str, str] = {}


class BatchResponse(Model):
    """The answers, in the order of the requests."""

    responses: list[SubResponse]


@dataclass(frozen=True, slots=True)
class BatchService:
    dispatcher: Dispatcher
    routes: RouteTable
    read_query: Callable[[str], Mapping[str, str]]
    """A function that parses the query of a path, as the HTTP server does. It raises Problem if the query is
    malformed.
    """


@operation(
    tag="Batch",
    answer="object",
    returns=BatchResponse,
    takes_key=True,
    max_body=MAX_BATCH_BODY,
)
async def run_batch(service: BatchService, body: BatchRequest, call: Call) -> Reply:
    """Send several requests in one.

    Runs 1 to 50 requests of version 2, in the given order. Each request is authorised, limited and answered as if
    it was sent alone, and counts as one request. A request that fails does not stop the next requests. If the
    batch has an Idempotency-Key, each writing request without a key gets one. That key is made from the key of the
    batch and the position of the request. A batch that is repeated with the same key therefore changes nothing
    twice.
    """
    if call.idempotency_key is not None:
        idempotency.read(call.idempotency_key)
    running = Running(service, call, time.monotonic() + MOST_SECONDS)
    try:
        for place, sub_request in enumerate(body.requests):
            await running.add(place, sub_request)
        await running.end()
        call.parts = list(map(_part, body.requests, running.replies))
        body_text = f'{{"responses":[{",".join(map(_slot, running.replies))}]}}'
        return Reply(200, body_text.encode(), running.left)
    finally:
        running.give_up()


@dataclass(slots=True)
class Running:
    """A batch that is running. `until` is the time on the clock of `time.monotonic` after which no further request
    is started.
    """

    service: BatchService
    call: Call
    until: float
    replies: list[Reply] = field(default_factory=list)
    _begun: list[PendingCall | Reply] = field(default_factory=list)
    """The requests whose answers are not in `replies` yet, in order: writes that are running, and refusals."""
    left: dict[str, str] = field(default_factory=dict)
    """The rate limit headers of the last request of the batch that was counted. They say what is left of the
    company's limit.
    """
    _bytes: int = 0
    """The total size in bytes of the answers so far."""
    _over: Problem | None = None
    """The error with which all later requests of the batch are refused, because an answer was too large.

    No later request may run, because a client may repeat all requests from the first refusal on.
    """

    async def add(self, place: int, sub_request: SubRequest) -> None:
        try:
            if self._bytes >= MOST_BYTES:
                self._over = _too_large()
            if self._over is not None:
                raise self._over
            if time.monotonic() > self.until:
                raise unavailable(TOOK_TOO_LONG, 1)
            call = _call(self.service, self.call, sub_request, place)
        except Problem as problem:
            self._begun.append(refusal(problem))
            return
        if call.operation.writes and call.operation.needs is None:
            self._begun.append(await self.service.dispatcher.begin(call))
            if len(self._begun) >= MOST_UNDER_WAY:
                await self.end()
            return
        await self.end()  # so that the read sees the writes before it
        # The batch waits for the read to end, so that the read does not see later writes.
        reply = await self.service.dispatcher.dispatch(call)
        self._note_left(call, reply)
        self.replies.append(self._kept(reply))

    async def end(self) -> None:
        """Wait for the running writes, and add their answers to `replies`. Add large answers too, because these
        writes have already changed data.
        """
        while self._begun:
            each = self._begun[0]
            reply = await self.service.dispatcher.end(each) if isinstance(each, PendingCall) else each
            if isinstance(each, PendingCall):
                self._note_left(each.call, reply)
            del self._begun[0]
            self.service.dispatcher.kept_answers.count(self._company, len(reply.body))
            self._bytes += len(reply.body)
            self.replies.append(reply)

    def _note_left(self, call: Call, reply: Reply) -> None:
        if call.operation.limit == "company" and RATE_HEADERS[0] in reply.headers:
            self.left = {name: reply.headers[name] for name in RATE_HEADERS}

    def give_up(self) -> None:
        for each in self._begun:
            if isinstance(each, PendingCall):
                each.give_up()
        self.service.dispatcher.kept_answers.release(self._company, self._bytes)

    def _kept(self, reply: Reply) -> Reply:
        """Return `reply`, the answer of a read. If it exceeds a size limit, return a refusal instead, and refuse
        all later requests of the batch.
        """
        size = len(reply.body)
        try:
            if self._bytes + size > MOST_BYTES:
                raise _too_large()
            self.service.dispatcher.kept_answers.hold(self._company, size)
        except Problem as problem:
            self._over = problem
            return refusal(problem)
        self._bytes += size
        return reply

    @property
    def _company(self) -> str:
        return self.call.company or ""


def _too_large() -> Problem:
    return Problem("VALIDATION_FAILED", TOO_LARGE, status=413)


def _call(service: BatchService, batch: Call, sub_request: SubRequest, place: int) -> Call:
    """Return the call for one request of the batch. `place` is the position of the request. Raise Problem if its
    path is not an address of the API.
    """
    path = _path(sub_request.path)
    method = printable(sub_request.method)[:LONGEST_METHOD]
    method = method.upper() if method.isascii() else method
    route, parts = service.routes.find(method, path)
    own_key = sub_request.headers.get(idempotency.HEADER)
    return Call(
        operation=route.operation,
        method=method,
        target=URL(path, encoded=True).path,
        origin=batch.origin,
        route_headers=route.headers,
        address=batch.address,
        request_id=batch.request_id,
        path=parts,
        query=service.read_query(sub_request.path),
        load_body=lambda: _load(service.dispatcher.bodies, batch, sub_request.body),
        token=batch.token,
        session=batch.session,
        is_tried=batch.is_tried,
        company=batch.company,
        operator=batch.operator,
        idempotency_key=batch.idempotency_key if own_key is None else own_key,
        key_suffix=f" of a batch, {place}" if own_key is None else "",
        is_counted=place == 0,
        is_inner=place == 0,
    )


def _path(sent: str) -> str:
    """Return the path without its query. Raise Problem if the path is not allowed in a batch."""
    path = sent.partition("?")[0]
    error = None
    if len(sent) > LONGEST_PATH:
        error = f"must have at most {LONGEST_PATH} characters"
    elif not path.startswith("/") or path.startswith("//"):
        error = f"must begin with {PREFIX}, without a host"
    elif path.rstrip("/") == BATCH:
        error = "must not be a batch"
    elif "#" in sent:
        error = "must not contain #"
    elif any(part in ("..", ".") for part in URL(path, encoded=True).path.split("/")):
        error = "must not contain . or .."
    if error is not None:
        raise invalid({"path": [error]})
    if not path.startswith(PREFIX):
        raise Problem("NOT_FOUND", f"A batch can only have paths that begin with {PREFIX}.")
    return path


async def _load(bodies: LargeBodies, batch: Call, body: object) -> Loaded:
    """Check `body`, the body of one request of the batch. Return it with the errors that were found in its texts.
    If the batch is large, do this on a thread.

    Raise Problem if `body` is not a JSON object. In a large batch, also raise Problem if `body` is too large.
    """
    if not isinstance(body, dict):
        raise Problem("VALIDATION_FAILED", "The request body must be a JSON object.", status=400)
    if not batch.held_bytes:
        return Loaded(body, text_errors_of(body))
    return await bodies.run(batch.company or "", lambda: _measured(body))


def _measured(body: dict[str, object]) -> Loaded:
    """Check the size of the body of one request in a large batch. Return the body with the errors that were found
    in its texts.

    Raise Problem if the body is too large or has too many fields.
    """
    size = len(canonical(body))
    if size > MAX_BODY:
        raise Problem("VALIDATION_FAILED", f"The request body is over {MAX_BODY // 1024} KiB.", status=413)
    if fields_in(body) > Input.MOST_FIELDS:
        raise Problem("VALIDATION_FAILED", f"The request body has over {Input.MOST_FIELDS} fields.")
    return Loaded(body, text_errors_of(body), size > LARGE)


def _part(sub_request: SubRequest, reply: Reply) -> Part:
    name = printable(f"{sub_request.method[:LONGEST_METHOD]} {sub_request.path[:LONGEST_SHOWN]}")
    refused = REFUSED.match(reply.body[:LONGEST_SHOWN].decode("utf-8", "ignore")) if reply.status >= 400 else None
    if refused is None:
        return Part(name, reply.status)
    return Part(name, reply.status, refused[2], json.loads(f'"{refused[1]}"'))


def _slot(reply: Reply) -> str:
    headers = {name: reply.headers[name] for name in HEADERS_OF_INTEREST if name in reply.headers}
    shown = f',"headers":{dumps(headers)}' if headers else ""
    return f'{{"status":{reply.status},"body":{reply.body.decode() or "null"}{shown}}}'


def routes_of(routes: Sequence[Route]) -> RouteTable:
    return RouteTable([route for route in routes if route.path != BATCH])
