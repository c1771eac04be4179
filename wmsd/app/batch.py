"""`POST /api/v2/batch`: several requests in one, each through the same door (decisions, section 4).

Writes are begun one after the other and share the commits of the writer, so that fifty of them wait for the disk
once and not fifty times. A read waits until what was begun before it has ended, so it sees it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field
from yarl import URL

from wmsd.app import idempotency
from wmsd.app.call import Call, Loaded, Reply, refusal
from wmsd.app.door import Begun, Door
from wmsd.base.fields import Input, Model, refuse
from wmsd.base.operation import MAX_BODY, operation
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.results import Text
from wmsd.base.route import Route, RouteTable
from wmsd.base.strict_json import canonical, dumps, flaws_of, printable

PREFIX: Final = "/api/v2/"
BATCH: Final = "/api/v2/batch"
MOST_REQUESTS: Final = 50
MAX_BATCH_BODY: Final = 4 * MAX_BODY
HEADERS_OF_INTEREST: Final = ("Location", "ETag", "Retry-After", "Allow", idempotency.REPLAYED)
IN_A_BODY: Final = re.compile(r"requests\.\d+\.body(\.|$)")


def _method(value: str) -> str:
    if not value.isascii() or value.upper() not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        raise refuse("must be GET, POST, PUT, PATCH or DELETE")
    return value.upper()


def _path(value: str) -> str:
    path = value.partition("?")[0]
    if not path.startswith(PREFIX):
        raise refuse(f"must begin with {PREFIX}, without a host")
    if path.rstrip("/") == BATCH:
        raise refuse("must not be a batch")
    if "#" in value:
        raise refuse("must not contain #")
    if any(part in ("..", ".") for part in URL(path, encoded=True).path.split("/")):
        raise refuse("must not contain . or ..")
    return value


def _headers(value: object) -> object:
    if not isinstance(value, dict):
        return value
    if len(value) > 1:
        raise refuse(f"can only have {idempotency.HEADER}, once")
    for name, text in value.items():
        if str(name).lower() != idempotency.HEADER.lower():
            raise refuse(f"can only have {idempotency.HEADER}, not {printable(str(name))}")
        if not isinstance(text, str):
            raise refuse(f"must have a text as {idempotency.HEADER}")
    return dict.fromkeys([idempotency.HEADER], *value.values()) if value else {}


class SubRequest(Input):
    method: Annotated[str, Field(max_length=10), AfterValidator(_method)]
    path: Annotated[
        str,
        Field(min_length=1, max_length=4000, description="A path of version 2, with its query."),
        AfterValidator(_path),
    ]
    body: Any = None
    headers: Annotated[dict[str, str], BeforeValidator(_headers), Field(description="Only Idempotency-Key.")] = {}


class BatchRequest(Input):
    requests: Annotated[list[SubRequest], Field(min_length=1, max_length=MOST_REQUESTS)]

    @classmethod
    def own_flaws(cls, flaws: FieldErrors) -> FieldErrors:
        """What is wrong inside a request's body is that request's to be refused for."""
        return {path: sentences for path, sentences in flaws.items() if not IN_A_BODY.match(path)}


class SubResponse(Model):
    status: int
    body: Any
    headers: dict[str, str] = {}


class BatchResponse(Model):
    """The answers, in the order of the requests."""

    responses: list[SubResponse]


@dataclass(frozen=True, slots=True)
class BatchDesk:
    door: Door
    routes: RouteTable
    read_query: Callable[[str], Mapping[str, str]]
    """The query of a path with a query, read as the HTTP server does. Raises Problem."""


@operation(
    tag="Batch",
    answer="object",
    returns=BatchResponse,
    max_body=MAX_BATCH_BODY,
)
async def run_batch(desk: BatchDesk, body: BatchRequest, call: Call) -> Text:
    """Send several requests in one.

    1 to 50 requests of version 2 run in their order. Each is authorised, limited and answered as if it was sent
    alone, and counts as one request; one that fails does not stop the next. A writing request without an
    Idempotency-Key of its own gets one from that of the batch and its place in it, so that a batch that is
    repeated with its key does nothing twice.
    """
    if call.idempotency_key is not None:
        idempotency.read(call.idempotency_key)
    begun: list[Begun | Reply] = []
    try:
        for place, sub_request in enumerate(body.requests):
            begun.append(await _begin(desk, call, sub_request, place, begun))
        replies = [await _ended(desk, each) for each in begun]
    finally:
        for each in begun:
            if isinstance(each, Begun):
                each.give_up()
    return Text(f'{{"responses":[{",".join(map(_slot, replies))}]}}')


async def _begin(
    desk: BatchDesk, batch: Call, sub_request: SubRequest, place: int, before: list[Begun | Reply]
) -> Begun | Reply:
    try:
        call = _call(desk, batch, sub_request, place)
    except Problem as problem:
        return refusal(problem)
    if not call.operation.writes:
        before[:] = [await _ended(desk, each) for each in before]
        return await desk.door.perform(call)  # to its end: it must not see what is written after it
    return await desk.door.begin(call)


async def _ended(desk: BatchDesk, begun: Begun | Reply) -> Reply:
    return await desk.door.end(begun) if isinstance(begun, Begun) else begun


def _call(desk: BatchDesk, batch: Call, sub_request: SubRequest, place: int) -> Call:
    """The request as it would arrive alone. Raises Problem for an address that is none."""
    path, _, _ = sub_request.path.partition("?")
    route, parts = desk.routes.find(sub_request.method, path)
    own_key = sub_request.headers.get(idempotency.HEADER)
    return Call(
        operation=route.operation,
        method=sub_request.method,
        target=URL(path, encoded=True).path,
        address=batch.address,
        request_id=batch.request_id,
        path=parts,
        query=desk.read_query(sub_request.path),
        load_body=lambda: _load(sub_request.body),
        token=batch.token,
        company=batch.company,
        operator=batch.operator,
        idempotency_key=batch.idempotency_key if own_key is None else own_key,
        key_suffix=f" of a batch, {place}" if own_key is None else "",
        is_counted=place == 0,
    )


async def _load(body: object) -> Loaded:
    if not isinstance(body, dict):
        raise Problem("VALIDATION_FAILED", "The request body must be a JSON object.", status=400)
    if len(canonical(body)) > MAX_BODY:
        raise Problem("VALIDATION_FAILED", f"The request body is over {MAX_BODY // 1024} KiB.", status=413)
    return body, flaws_of(body)


def _slot(reply: Reply) -> str:
    headers = {name: reply.headers[name] for name in HEADERS_OF_INTEREST if name in reply.headers}
    shown = f',"headers":{dumps(headers)}' if headers else ""
    return f'{{"status":{reply.status},"body":{reply.body.decode() or "null"}{shown}}}'


def routes_of(routes: Sequence[Route]) -> RouteTable:
    return RouteTable([route for route in routes if route.path != BATCH])
