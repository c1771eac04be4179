"""Executes a plan, with one call of the dispatcher per root field and per set of referenced records.

It does not use graphql-core's executor, which blocks the event loop five times as long, for all tenants.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import orjson
from graphql import GraphQLError, execute_sync
from graphql.language import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from wmsd.base.dataclass import dataclass
from wmsd.contract.list_queries import MOST_IDS
from wmsd.dispatch.call import Call
from wmsd.dispatch.dispatcher import Dispatcher
from wmsd.dispatch.idempotency import REPLAYED
from wmsd.interfaces.graphql.calls import argument_names, call_of, failed_by, inner_call
from wmsd.interfaces.graphql.limits import MOST_AT_ONCE, MOST_BYTES, MOST_SECONDS
from wmsd.interfaces.graphql.plans import Edges, Plan, Planned
from wmsd.interfaces.graphql.root_fields import DETAIL, Collection
from wmsd.interfaces.graphql.schema import schema
from wmsd.interfaces.graphql.shapes import Failed, Json, Link, Projection, Shape, too_much

BYTES_AT_ONCE: Final = 256 * 1024
"""The number of bytes that are parsed without a pause. Parsing them takes one to three milliseconds."""
LIST: Final = b'{"data":['
"""A JSON answer with a list begins with these bytes (see `dispatch/replies.py`)."""
DECODER: Final = json.JSONDecoder()
AT_ONCE: Final = 1_000
"""The number of objects that are created in one step. After each step, other tasks can run."""
TOOK_TOO_LONG: Final = f"The document took over {MOST_SECONDS:.0f} s. Request less data."


async def read(body: bytes) -> Any:
    """Parse JSON. Raise ValueError if the JSON is invalid.

    A long list is parsed in steps, so that other tasks can run.
    """
    if len(body) <= BYTES_AT_ONCE or not body.startswith(LIST):
        return orjson.loads(body)
    text = body.decode()
    records: list[Any] = []
    place = began = len(LIST)
    while text[place] != "]":
        record, place = DECODER.raw_decode(text, place)
        records.append(record)
        if text[place] == ",":
            place += 1
        if place - began > BYTES_AT_ONCE:
            began = place
            await asyncio.sleep(0)
    rest = text[place + 1 :].removeprefix(",")
    return {"data": records, **orjson.loads(f"{{{rest}")}


@dataclass
class Execution:
    """The execution of one document. `call` is the call that runs the whole document."""

    dispatcher: Dispatcher
    call: Call
    planned: Planned
    data: Json = field(default_factory=dict)
    errors: list[Json] = field(default_factory=list)
    replayed: list[str] = field(default_factory=list)
    """The keys of mutations that did not run again, because an earlier request had the same idempotency key."""
    projection: Projection = field(default_factory=Projection)
    _bytes_left: int = field(default_factory=lambda: MOST_BYTES)
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AT_ONCE))

    async def run(self) -> None:
        """Run the document. Mutations run one after the other, in order. A few queries run at the same time."""
        try:
            async with asyncio.timeout(None if self.planned.is_mutation else MOST_SECONDS):
                await self._run()
        except TimeoutError:
            self._note(Failed(TOOK_TOO_LONG, "SERVICE_UNAVAILABLE", {"status": 503}), [])

    async def _run(self) -> None:
        plans = self.planned.plans
        self.data = {key: self.planned.typenames.get(key) for key in self.planned.keys}
        if self.planned.is_mutation:
            for plan in plans:
                await self._answer(plan)
        else:
            await asyncio.gather(*(self._answer(plan) for plan in plans))
        while links := self.projection.taken():
            await asyncio.gather(*(self._follow(link, waiting) for link, waiting in links))

    async def _answer(self, plan: Plan) -> None:
        try:
            answer, is_replayed = await self._perform(call_of(self.call, plan))
            if is_replayed:
                self.replayed.append(plan.key)
            self.data[plan.key] = await self._shown(plan, answer)
        except Failed as failed:
            self._note(failed, [plan.key], plan.node, argument_names(plan))

    async def _perform(self, call: Call) -> tuple[Any, bool]:
        """Run a call. Return two values: its answer, and whether the call was a repetition. The answer is parsed
        JSON, or True if it is empty.

        A call is a repetition if an earlier call had the same idempotency key. Raise Failed if the call is
        refused, or if all answers of the document together have more than `MOST_BYTES`.
        """
        async with self._turns:
            reply = await self.dispatcher.dispatch(call)
            if reply.status >= 400:
                raise failed_by(reply)
            if len(reply.body) > self._bytes_left:
                raise too_much()
            self._bytes_left -= len(reply.body)
            return await read(reply.body) if reply.body else True, REPLAYED in reply.headers

    async def _shown(self, plan: Plan, answer: Any) -> Any:
        if plan.parts is not None:
            return {part.key: await self._part(plan, part, answer) for part in plan.parts}
        if plan.shape is None:
            return True
        return self.projection.of(plan.shape, answer)

    async def _part(self, plan: Plan, part: Edges, answer: Json) -> Any:
        if part.kind == "__typename":
            return part.typename
        cursors = answer.get("cursors", ())
        if part.kind == "pageInfo":
            info = {
                "__typename": part.typename,
                "hasNextPage": answer["next_cursor"] is not None,
                "hasPreviousPage": plan.arguments.get("after") is not None,
                "startCursor": cursors[0] if cursors else None,
                "endCursor": answer["end_cursor"],
                "asOf": answer.get("as_of"),
            }
            return {key: info[name] for key, name in part.members.items()}
        records = answer["data"]
        shown: dict[str, Sequence[Any]] = {
            key: await self._all(shape, records) for key, shape in part.shapes.items()
        }
        if part.kind == "nodes":
            return shown[part.key]
        shown |= {key: cursors for key, name in part.members.items() if name == "cursor"}
        shown |= {
            key: [part.typename] * len(records) for key, name in part.members.items() if name == "__typename"
        }
        return [{key: shown[key][place] for key in part.members} for place in range(len(records))]

    async def _all(self, shape: Shape, records: Sequence[Json]) -> list[Json]:
        shown: list[Json] = []
        for some in _in_steps(shape, records):
            if shown:
                await asyncio.sleep(0)
            shown += self.projection.all_of(shape, some)
        return shown

    # --- records that other records refer to ---------------------------------------------------------------------

    async def _follow(self, link: Link, waiting: list[tuple[Json, int]]) -> None:
        """Load the related records of the objects in `waiting`, and put the records into these objects.

        `link` is the field that gets the records. `waiting` has pairs of an object and an id. For a reference,
        this is the id of the related record. For a collection, it is the object's own id, to which the related
        records refer. Each call loads the records for some ids.
        """
        ids = sorted({referred for _, referred in waiting})
        try:
            answers = [(await self._perform(self._find(link, some)))[0] for some in _chunks(ids)]
            records = [record for answer in answers for record in answer["data"]]
            shown = await self._all(link.shape, records)
        except Failed as failed:
            self._note_at(failed, link, waiting)
            return
        if isinstance(link.source, Collection):
            lists: dict[int, list[Json]] = {}
            for record, each in zip(records, shown, strict=True):
                lists.setdefault(record[link.source.id_field], []).append(each)
            for holder, referred in waiting:
                holder[link.key] = lists.get(referred, [])
        else:
            found = {record["id"]: each for record, each in zip(records, shown, strict=True)}
            for holder, referred in waiting:
                holder[link.key] = found.get(referred)

    def _find(self, link: Link, ids: Sequence[int]) -> Call:
        query = {"ids": ",".join(map(str, ids))}
        if isinstance(link.source, Collection):
            query["most"] = str(link.first)
        if link.shape.wants_detail:
            query["detail"] = DETAIL
        call = inner_call(self.call, link.source.find, query=query)
        call.needed_fields = link.shape.needed_fields
        return call

    # --- errors --------------------------------------------------------------------------------------------------

    def _note_at(self, failed: Failed, link: Link, waiting: list[tuple[Json, int]]) -> None:
        """Add the error `failed`, at the first object in `waiting` only. The field of `link` stays null in all
        these objects.
        """
        path = _path_to(self.data, waiting[0][0], [])
        self._note(failed, [*(path or []), link.key])

    def _note(
        self,
        failed: Failed,
        path: Sequence[str | int],
        node: FieldNode | None = None,
        arguments: Mapping[str, str] | None = None,
    ) -> None:
        error: Json = {"message": failed.message}
        if node is not None and node.loc is not None:
            token = node.loc.start_token
            error["locations"] = [{"line": token.line, "column": token.column}]
        more = dict(failed.more)
        if arguments and "errors" in more:
            more["errors"] = {arguments.get(name, name): sentences for name, sentences in more["errors"].items()}
        self.errors.append({**error, "path": list(path), "extensions": {"code": failed.code, **more}})


def _in_steps(shape: Shape, records: Sequence[Json]) -> Iterator[Sequence[Json]]:
    """Yield the records in groups. A group has about `AT_ONCE` objects, counting the lines of documents."""
    lists = [part.name for part in shape.parts if part.is_list]
    start = objects = 0
    for place, record in enumerate(records):
        if objects >= AT_ONCE:
            yield records[start:place]
            start, objects = place, 0
        objects += 1 + sum(len(record[name] or ()) for name in lists)
    yield records[start:]


def _chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))


def _path_to(value: Any, wanted: Json, path: list[str | int]) -> list[str | int] | None:
    """Return the path to the object `wanted`, or None if `value` does not contain it.

    `path` is the path to `value`. Both paths start at the top of the answer.
    """
    if value is wanted:
        return path
    members: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for step, member in members:
        found = _path_to(member, wanted, [*path, step])
        if found is not None:
            return found
    return None


def introspect(document: DocumentNode, planned: Planned, variables: Json) -> tuple[Json, list[GraphQLError]]:
    """Let graphql-core execute the fields about the schema itself. Return the answer and the errors."""
    operation = OperationDefinitionNode(
        operation=planned.operation.operation,
        name=planned.operation.name,
        variable_definitions=planned.operation.variable_definitions,
        directives=(),
        selection_set=SelectionSetNode(selections=tuple(planned.introspection)),
    )
    fragments = [each for each in document.definitions if isinstance(each, FragmentDefinitionNode)]
    result = execute_sync(schema(), DocumentNode(definitions=(operation, *fragments)), variable_values=variables)
    return result.data or {}, result.errors or []
