"""The ways to request an operation, and a client that requests operations in these ways.

The ways are derived from the route tables of the interfaces. GraphQL documents, batches and pipelined requests
carry many questions at a time, and each question gets an answer of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graphql import GraphQLObjectType, get_named_type

from tests.support.world import World
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.dispatch.batch import BATCH
from wmsd.interfaces.etsm.routes import ROUTES as ETSM_ROUTES
from wmsd.interfaces.graphql.root_fields import MUTATIONS, QUERIES, Collection, Field
from wmsd.interfaces.graphql.schema import Embedded, Leaf, schema, source_of
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.warehouse.references_by_id import Reference

GRAPHQL: Final = "/api/graphql"
IN_A_BATCH: Final = 50
IN_A_DOCUMENT: Final = 25
AT_ONCE: Final = 25
DONE: Final = ""
"""The code of an operation that was carried out."""


@dataclass(frozen=True, eq=False)
class Way:
    """A way to request an operation through one interface.

    One request may carry out several `operations`, in this order: a GraphQL field reads a record, and then the
    record that it refers to.
    """

    interface: str
    name: str
    operations: tuple[Operation, ...]
    route: Route | None = None
    root: Field | None = None
    selection: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The types of the GraphQL field's arguments, by name."""
    link: tuple[str, ...] = ()
    """For GraphQL, the names of the fields that lead from the record to another record that it refers to."""

    def __str__(self) -> str:
        return f"{self.interface} {self.name}"

    @property
    def operation(self) -> Operation:
        """The operation that the way requests: the last one of `operations`."""
        return self.operations[-1]

    @property
    def is_mutation(self) -> bool:
        return self.root in MUTATIONS


@dataclass(frozen=True)
class Question:
    """A request for an operation.

    `parts` are the values for the path's parameters, by name. REST uses `query`, with its question mark, and
    GraphQL uses `arguments`.
    """

    way: Way
    parts: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    query: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sender:
    """The caller of a question, with the headers that identify the caller."""

    token: str | None
    company: str | None = None
    operator: str | None = None
    more: tuple[tuple[str, str], ...] = ()

    @property
    def lines(self) -> str:
        named = (
            ("Authorization", self.token and f"Bearer {self.token}"),
            ("X-Company-Id", self.company),
            ("X-Three-Pl-Id", self.operator),
            *self.more,
        )
        return "".join(f"{name}: {value}\r\n" for name, value in named if value is not None)


@dataclass(frozen=True)
class Said:
    """The answer to a question: `code` is the code of the refusal, or DONE.

    `shown` is the part of the response that answers this question.
    """

    status: int
    code: str
    message: str
    shown: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""
    """The body of the response, if the response answers only this question."""


# --- the ways ----------------------------------------------------------------------------------------------------


def _of_routes(interface: str, routes: Sequence[Route], scope: str) -> Iterator[Way]:
    for route in routes:
        if route.operation.scope == scope:
            yield Way(interface, f"{route.method} {route.path}", (route.operation,), route)


def _of_fields(kind: str, fields: Sequence[Field]) -> Iterator[Way]:
    root = schema().query_type if kind == "query" else schema().mutation_type
    assert root is not None
    for each in fields:
        declared = root.fields[each.name]
        arguments = {name: str(argument.type) for name, argument in declared.args.items()}
        of = get_named_type(declared.type)
        selections: list[tuple[tuple[str, ...], Operation | None]] = [((), None)]
        if isinstance(of, GraphQLObjectType):
            record = get_named_type(of.fields["nodes"].type) if each.operation.answer == "cursor" else of
            assert isinstance(record, GraphQLObjectType)
            selections = [((_leaf(record),), None), *(_links(record) if kind == "query" else ())]
        for path, find in selections:
            nested = " { ".join((*(("nodes",) if each.operation.answer == "cursor" else ()), *path))
            selection = f"{{ {nested} {'}' * (nested.count('{') + 1)}" if nested else ""
            yield Way(
                "GraphQL",
                f"{kind} {each.name}" if find is None else f"{'.'.join(path[:-1])} of {each.name}",
                (each.operation,) if find is None else (each.operation, find),
                root=each,
                selection=selection,
                arguments=arguments,
                link=() if find is None else path[:-1],
            )


def _leaf(of: GraphQLObjectType) -> str:
    return "id" if "id" in of.fields else next(n for n, f in of.fields.items() if isinstance(source_of(f), Leaf))


def _links(of: GraphQLObjectType) -> Iterator[tuple[tuple[str, ...], Operation]]:
    """Yield the paths from a record of this type to the records that it refers to, each with the operation that
    finds the other record.

    Records inside an embedded part count too. Each path ends at a field with a plain value.
    """
    for name, declared in of.fields.items():
        source, inner = source_of(declared), get_named_type(declared.type)
        if isinstance(source, Reference | Collection):
            assert isinstance(inner, GraphQLObjectType)
            yield (name, _leaf(inner)), source.find
        elif isinstance(source, Embedded):
            assert isinstance(inner, GraphQLObjectType)
            for path, find in _links(inner):
                yield (name, *path), find


WAYS: Final[Sequence[Way]] = (
    *_of_routes("REST v1", V1, "company"),
    *_of_routes("REST v2", V2, "company"),
    *_of_routes("batch", [route for route in V2 if route.path != BATCH], "company"),
    *_of_fields("query", QUERIES),
    *_of_fields("mutation", MUTATIONS),
    *_of_routes("ETSM", ETSM_ROUTES, "site"),
)


# --- asking ------------------------------------------------------------------------------------------------------


class Asker:
    """A client that asks questions over one connection. It connects again if the server has closed the connection,
    which a busy machine may leave idle for longer than the server allows.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self.count = 0

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**24)

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def ask(self, sender: Sender, questions: Sequence[Question]) -> list[Said]:
        """Return the answer to each question, in the order of the questions."""
        said: dict[int, Said] = {}
        alone = [each for each in questions if each.way.interface.startswith(("REST", "ETSM"))]
        for some in _chunks(alone, AT_ONCE):
            asked = [(_method(each), _path(each), each.body) for each in some]
            for question, answer in zip(some, await self._exchange(sender, asked), strict=True):
                said[id(question)] = answer
        for some in _chunks([each for each in questions if each.way.interface == "batch"], IN_A_BATCH):
            for question, answer in zip(some, await self._batch(sender, some), strict=True):
                said[id(question)] = answer
        fields = [each for each in questions if each.way.interface == "GraphQL"]
        for kind in (False, True):
            for some in _chunks([each for each in fields if each.way.is_mutation is kind], IN_A_DOCUMENT):
                for question, answer in zip(some, await self._document(sender, some), strict=True):
                    said[id(question)] = answer
        self.count += len(questions)
        return [said[id(question)] for question in questions]

    async def _batch(self, sender: Sender, questions: Sequence[Question]) -> list[Said]:
        slots = [
            {"method": _method(each), "path": _path(each), **({} if each.body is None else {"body": each.body})}
            for each in questions
        ]
        (whole,) = await self._exchange(sender, [("POST", BATCH, {"requests": slots})])
        if whole.code != DONE:
            return [whole] * len(questions)
        return [_said(slot["status"], slot["body"], slot.get("headers", {})) for slot in whole.shown["responses"]]

    async def _document(self, sender: Sender, questions: Sequence[Question]) -> list[Said]:
        variables: dict[str, Any] = {}
        declared, fields = [], []
        for place, question in enumerate(questions):
            given = []
            for name, value in _arguments(question).items():
                variables[f"{name}{place}"] = value
                declared.append(f"${name}{place}: {question.way.arguments[name]}")
                given.append(f"{name}: ${name}{place}")
            assert question.way.root is not None
            called = f"({', '.join(given)})" if given else ""
            fields.append(f"f{place}: {question.way.root.name}{called} {question.way.selection}")
        kind = "mutation" if questions[0].way.is_mutation else "query"
        head = f"({', '.join(declared)})" if declared else ""
        text = f"{kind}{head} {{ {' '.join(fields)} }}"
        (whole,) = await self._exchange(sender, [("POST", GRAPHQL, {"query": text, "variables": variables})])
        if whole.status != 200 or whole.shown.get("data") is None:
            return [_refused(whole.status, error) for error in whole.shown["errors"][:1]] * len(questions)
        return [_said_of_field(f"f{place}", each, whole.shown) for place, each in enumerate(questions)]

    async def _exchange(self, sender: Sender, asked: Sequence[tuple[str, str, Any]]) -> list[Said]:
        await asyncio.sleep(0)  # notice whether the server has closed the connection
        if self._reader.at_eof() or self._writer.is_closing():
            await self.close()
            await self.connect()
        head = f"Host: 127.0.0.1\r\n{sender.lines}"
        for method, path, body in asked:
            content = b"" if body is None else json.dumps(body).encode()
            kind = "" if body is None else "Content-Type: application/json\r\n"
            length = f"Content-Length: {len(content)}\r\n" if content else ""
            self._writer.write(f"{method} {path} HTTP/1.1\r\n{head}{kind}{length}\r\n".encode() + content)
        await self._writer.drain()
        return [await self._read() for _ in asked]

    async def _read(self) -> Said:
        async with asyncio.timeout(60):
            lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.title(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
            raw = await self._reader.readexactly(int(headers.get("Content-Length", "0")))
        return replace(_said(int(lines[0].split()[1]), json.loads(raw) if raw else None, headers), raw=raw)


@asynccontextmanager
async def asking(world: World) -> AsyncIterator[Asker]:
    asker = Asker(int(world.base_url.rpartition(":")[2]))
    await asker.connect()
    try:
        yield asker
    finally:
        await asker.close()


def _chunks(questions: Sequence[Question], most: int) -> Iterator[Sequence[Question]]:
    return (questions[start : start + most] for start in range(0, len(questions), most))


def _method(question: Question) -> str:
    assert question.way.route is not None
    return question.way.route.method


def _path(question: Question) -> str:
    assert question.way.route is not None
    return question.way.route.path.format_map(dict(question.parts)) + question.query


def _arguments(question: Question) -> dict[str, Any]:
    body = {} if question.body is None else {"input": question.body}
    first = {"first": 1} if "first" in question.way.arguments else {}
    return {**first, **question.parts, **body, **question.arguments}


def _said(status: int, body: Any, headers: Mapping[str, str]) -> Said:
    if status < 400:
        return Said(status, DONE, "", body, headers)
    code = body["code"] if "code" in body else body["errors"][0]["extensions"]["code"]
    return Said(status, code, body.get("message", ""), body, headers)


def _refused(status: int, error: Any) -> Said:
    """Return the answer for a GraphQL error.

    The error of a field has the status with which REST would have answered; other errors have `status`.
    """
    more = error["extensions"]
    return Said(more.get("status", status), more["code"], error["message"], {**more, "message": error["message"]})


def _said_of_field(key: str, question: Question, answer: Any) -> Said:
    link = question.way.link
    for error in answer.get("errors", ()):
        named = [step for step in error["path"] if isinstance(step, str) and step != "nodes"]
        if named in ([key], [key, *link]):
            return _refused(200, error)
    value = answer["data"][key]
    for step in (*(("nodes",) if question.way.operations[0].answer == "cursor" else ()), *link):
        value = value[0] if isinstance(value, list) else value
        value = value[step]
    return Said(done_status(question.way.operation), DONE, "", value)


def done_status(operation: Operation) -> int:
    """Return the status of a successful call.

    GraphQL has one status for everything, so for GraphQL this is the status that REST would have answered.
    """
    return 201 if operation.creates else 204 if operation.answer == "nothing" else 200
