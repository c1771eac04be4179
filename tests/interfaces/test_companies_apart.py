"""Records of another company look, in every interface, exactly like records that never existed."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from tests.support.asking import DONE, WAYS, Asker, Question, Said, Sender, Way, asking
from tests.support.two_tenants import NEVER, OWN, TwoTenants, body_of, open_premises, sample_of
from tests.support.world import UNLIMITED, World, open_world

LENT = pytest.mark.asyncio(loop_scope="module")
NEVER_A_CODE = "NEVER"
OF_EACH_ANSWER = ("X-Request-Id", "Date", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit")
OF_EACH_QUESTION = ("Link", "Etag")
"""Headers of lists that depend on the address and the body, whose cursor is signed with the address."""
KINDS: Mapping[str, str] = {
    "partner_id": "partner",
    "warehouse_id": "warehouse",
    "client_id": "client",
    "article_id": "article",
    "packaging_type_id": "packaging type",
    "sales_order_id": "shipped order",
    "purchase_order_id": "purchase order",
    "po_item_id": "purchase order's item",
}
"""Fields of bodies and filters of lists that name a record."""
WITH_HEADERS = ("REST v1", "REST v2", "ETSM")
"""The interfaces in which each request has separate headers."""
CODES: Mapping[str, str] = {"code": "article's code", "article_code": "article's code"}
END: Final = re.compile(r'"end_cursor": ?"[^"]+"')


@dataclass
class Neighbours:
    """Two companies. A platform admin sends requests in the company `own` for records that exist only in
    `theirs`.
    """

    world: World
    own: TwoTenants
    theirs: TwoTenants
    asker: Asker

    def sender(self, way: Way, company: TwoTenants, **headers: str) -> Sender:
        more = tuple((name.replace("_", "-").title(), value) for name, value in headers.items())
        if way.interface == "ETSM":
            return Sender(company.site_token, more=more)
        return Sender(self.world.token, str(company.id), more=more)

    async def ask(self, company: TwoTenants, question: Question, **headers: str) -> Said:
        (said,) = await self.asker.ask(self.sender(question.way, company, **headers), [question])
        return said

    async def reads_like_nothing(self, theirs: Question, never: Question, **headers: tuple[str, str]) -> Said:
        """Check that both questions get the same reply, and return it. `headers` are values for both questions, in
        this order.
        """
        of_theirs, of_never = ({name: each[place] for name, each in headers.items()} for place in (0, 1))
        found = await self.ask(self.own, theirs, **of_theirs)
        missed = await self.ask(self.own, never, **of_never)
        assert _seen(found) == _seen(missed), theirs
        return found

    async def records(self) -> list[Any]:
        return [await self.own.rows(), await self.theirs.rows()]


def _seen(said: Said) -> Any:
    """Return everything by which a client can distinguish replies. Cursors are left out: they are signed with the
    request.
    """
    is_list = isinstance(said.shown, dict) and "data" in said.shown
    left_out = (*OF_EACH_ANSWER, *OF_EACH_QUESTION) if is_list else OF_EACH_ANSWER
    headers = {name: value for name, value in said.headers.items() if name.title() not in left_out}
    return said.status, END.sub("", str(said.raw)), END.sub("", json.dumps(said.shown)), headers


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Neighbours]:
    async with open_world(folder / "data", UNLIMITED) as world, asking(world) as asker:
        own, theirs = await open_premises(world, more_of_theirs=4, more_of_own=1)
        yield Neighbours(world, own, theirs, asker)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def neighbours(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Neighbours]:
    """Open the companies for all tests of this module that change nothing."""
    async with opened(tmp_path_factory.mktemp("neighbours")) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def unchanged(neighbours: Neighbours) -> AsyncIterator[Neighbours]:
    before = await neighbours.records()
    yield neighbours
    assert await neighbours.records() == before


def of_there(way: Way, company: TwoTenants) -> Question:
    """Return a question about a record that both companies have."""
    sample = sample_of(way.operations[0])
    return Question(way, {name: company.there[kind] for name, kind in sample.parts.items()}, body_of(sample))


def shown(ways: Sequence[Way]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", ways, ids=str)


# --- ids in addresses --------------------------------------------------------------------------------------------


@shown([way for way in WAYS if sample_of(way.operations[0]).parts and not way.link])
@LENT
async def test_their_records_are_none_of_ours(unchanged: Neighbours, way: Way) -> None:
    question = of_there(way, unchanged.own)
    for name, kind in sample_of(way.operation).parts.items():
        never = NEVER_A_CODE if kind == "article's code" else NEVER
        said = await unchanged.reads_like_nothing(
            replace(question, parts={**question.parts, name: unchanged.theirs.alone[kind]}),
            replace(question, parts={**question.parts, name: never}),
        )
        assert (said.status, said.code) == (404, "NOT_FOUND")


# --- ids and codes in bodies and filters -------------------------------------------------------------------------


def named(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths at which a body names records."""
    if isinstance(body, dict):
        for name, value in body.items():
            if name in KINDS:
                yield (*path, name)
            yield from named(value, (*path, name))
    elif isinstance(body, list):
        for place, value in enumerate(body):
            yield from named(value, (*path, place))


def naming(body: Mapping[str, Any], path: tuple[Any, ...], **names: Any) -> dict[str, Any]:
    """Return the body with other names at the end of the path."""
    changed = deepcopy(dict(body))
    inner: Any = changed
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    inner.update(names)
    return changed


def names_of_theirs(way: Way, path: tuple[Any, ...], theirs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the names of the other company's record: by its id, by its code, and as a line of its document."""
    yield {path[-1]: int(theirs[KINDS[path[-1]]])}
    if path[-1] == "article_id":
        yield {"article_code": theirs["article's code"]}
    if len(path) > 1 and way.operation.name.startswith("replace_"):
        document = way.operation.name.removeprefix("replace_").replace("_", " ")
        # the id of the only line; a line with an unknown id is a new line
        yield {path[-1]: 1, "id": int(theirs[document])}


def of_nobody(names: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if value == 1 else int(NEVER) if isinstance(value, int) else NEVER_A_CODE
        for name, value in names.items()
    }


@shown([way for way in WAYS if any(named(sample_of(way.operations[0]).body))])
@LENT
async def test_a_body_cannot_name_their_records(unchanged: Neighbours, way: Way) -> None:
    question = of_there(way, unchanged.own)
    assert question.body is not None
    for path in named(question.body):
        for names in names_of_theirs(way, path, unchanged.theirs.alone):
            said = await unchanged.reads_like_nothing(
                replace(question, body=naming(question.body, path, **names)),
                replace(question, body=naming(question.body, path, **of_nobody(names))),
            )
            assert said.status == (200 if "id" in names else 422), (path, names, said)


def test_bodies_are_tried_with_every_reference_that_they_may_have() -> None:
    """Packaging is the exception: a body names it only when goods move (the next test)."""
    tried = {(way.operation.name, path[-1]) for way in WAYS for path in named(sample_of(way.operation).body)}
    for name in KINDS:
        if name != "packaging_type_id":
            assert any(name == each for _, each in tried), name


@LENT
async def test_packaging_and_orders_are_named_by_ours_only(unchanged: Neighbours) -> None:
    theirs = unchanged.theirs.alone
    (plan,) = (way for way in WAYS if way.operation.name == "plan_transport")
    body = {"transport_ecc": "NEW", "order_codes": []}
    said = await unchanged.reads_like_nothing(
        Question(plan, body={**body, "order_codes": [theirs["order's code"]]}),
        Question(plan, body={**body, "order_codes": [NEVER_A_CODE]}),
    )
    assert said.status == 422
    said = await unchanged.reads_like_nothing(
        *(
            Question(plan, body={**body, "packaging": [{"packaging_type_code": code, "quantity": 1}]})
            for code in (theirs["packaging type's code"], NEVER_A_CODE)
        )
    )
    assert said.status == 422


def filters(way: Way) -> list[str]:
    query = way.operation.query
    known = () if query is None else query.model_fields
    return [name for name in known if name in KINDS or name in CODES]


@shown([way for way in WAYS if filters(way) and not way.link])
@LENT
async def test_lists_have_nothing_of_their_records(unchanged: Neighbours, way: Way) -> None:
    for name in filters(way):
        asked = [
            Question(way, query=f"?{name}={value}", arguments={name: value})
            for value in (
                unchanged.theirs.alone[{**KINDS, **CODES}[name]],
                NEVER if name in KINDS else NEVER_A_CODE,
            )
        ]
        said = await unchanged.reads_like_nothing(*asked)
        assert said.code == DONE


# --- cursors and event ids ---------------------------------------------------------------------------------------


@shown([way for way in WAYS if way.operation.answer == "cursor" and not way.link])
@LENT
async def test_their_cursors_are_no_cursors(unchanged: Neighbours, way: Way) -> None:
    def at(cursor: str, company: TwoTenants) -> Question:
        return replace(of_there(way, company), query=f"?per_page=1&cursor={cursor}", arguments={"after": cursor})

    theirs, own = [await first_cursor(unchanged, way, each) for each in (unchanged.theirs, unchanged.own)]
    assert (await unchanged.ask(unchanged.theirs, at(theirs, unchanged.theirs))).code == DONE
    assert (await unchanged.ask(unchanged.own, at(own, unchanged.own))).code == DONE
    forged = theirs[:20] + ("A" if theirs[20] != "A" else "B") + theirs[21:]
    said = await unchanged.reads_like_nothing(at(theirs, unchanged.own), at(forged, unchanged.own))
    assert (said.status, said.code) == (422, "VALIDATION_FAILED")


async def first_cursor(neighbours: Neighbours, way: Way, company: TwoTenants) -> str:
    if way.interface == "GraphQL":
        edges = replace(way, selection="{ nodes: edges { cursor } }")
        return str((await neighbours.ask(company, of_there(edges, company))).shown[0]["cursor"])
    found = (await neighbours.ask(company, replace(of_there(way, company), query="?per_page=1"))).shown
    assert found["next_cursor"] is not None, way
    return str(found["next_cursor"])


@shown([way for way in WAYS if way.operation.name == "list_events"])
@LENT
async def test_their_events_are_no_events(unchanged: Neighbours, way: Way) -> None:
    def behind(event: str) -> Question:
        return Question(way, query=f"?after={event}", arguments={"after_event": event})

    database = await unchanged.world.database(unchanged.theirs.id)
    event: str = await database.read(lambda tx: tx.value("SELECT id FROM events ORDER BY sequence DESC"))
    never = ("0" if event[0] != "0" else "1") + event[1:]
    said = await unchanged.reads_like_nothing(behind(event), behind(never))
    assert (said.status, said.code) == (422, "VALIDATION_FAILED")


# --- conditional reads and idempotency keys ----------------------------------------------------------------------


CONDITIONAL = [way for way in WAYS if way.operation.precondition is not None and way.interface in WITH_HEADERS]


@shown(CONDITIONAL)
@LENT
async def test_what_was_seen_of_theirs_was_never_seen_here(unchanged: Neighbours, way: Way) -> None:
    theirs = unchanged.theirs
    assert way.route is not None
    parts = {name: theirs.alone[kind] for name, kind in sample_of(way.operation).parts.items()}
    path = way.route.path.removesuffix("/status").removesuffix("/rotate-secret").removesuffix("/book")
    if "code" in parts:
        path, parts = "/api/articles/{id}", {"id": theirs.alone["article"]}
    etag = (await theirs.send("GET", path.format_map(parts))).headers["ETag"]
    question, never = of_there(way, unchanged.own), f'"{"0" * (len(etag) - 2)}"'
    said = await unchanged.reads_like_nothing(question, question, if_match=(etag, never))
    assert (said.status, said.code) == (412, "PRECONDITION_FAILED")


WITH_KEYS = [
    way
    for way in WAYS
    if (way.is_mutation or (way.route is not None and way.route.method in ("POST", "PUT", "PATCH")))
    and way.operation.name != "run_batch"
]


async def test_a_key_is_of_its_company(tmp_path: Path) -> None:
    """A request sent with a key in one company is not repeated in the other, and does not block any request
    there.
    """
    async with opened(tmp_path) as neighbours:
        own, theirs = neighbours.own, neighbours.theirs
        for place, way in enumerate(WITH_KEYS):
            sample, key = sample_of(way.operation), f"key-{place}"
            first = await neighbours.ask(theirs, await _possible(way, theirs), idempotency_key=key)
            assert first.code == DONE, (way, first)
            if sample.body is not None:
                wrong = replace(of_there(way, own), body={**(body_of(sample) or {}), **sample.wrong})
                said = await neighbours.reads_like_nothing(wrong, wrong, idempotency_key=(key, f"{key}-never"))
                assert said.code == "VALIDATION_FAILED"
            kept = await _keys(own)
            question = await _possible(way, own)
            here = await neighbours.ask(own, question, idempotency_key=key)
            assert (here.code, "Idempotent-Replayed" in here.headers) == (DONE, False), way
            assert await _keys(own) == kept + 1, way
            again = await neighbours.ask(own, question, idempotency_key=key)
            assert (again.code, await _keys(own)) == (DONE, kept + 1), way


async def _possible(way: Way, company: TwoTenants) -> Question:
    sample, question = sample_of(way.operation), of_there(way, company)
    return replace(question, parts={"id": await company.new(sample.consumes)}) if sample.consumes else question


async def _keys(company: TwoTenants) -> int:
    database = await company.world.database(company.id)
    return await database.read(lambda tx: int(tx.value("SELECT count(*) FROM idempotency_keys")))


# --- companies ---------------------------------------------------------------------------------------------------


@LENT
async def test_a_company_of_others_is_none(neighbours: Neighbours) -> None:
    """Every interface and every operation replies with the same bytes. The same holds for the company's id with a
    valid operator.
    """
    await neighbours.world.new_user("boss@example.com", "company-admin", [OWN])
    token = await neighbours.world.new_token("boss@example.com")
    ways = [way for way in WAYS if way.interface != "ETSM"]
    before = await neighbours.records()
    for operator in (None, str(neighbours.theirs.operator), str(neighbours.own.operator)):
        asked = [of_there(way, neighbours.theirs) for way in ways]
        theirs = await neighbours.asker.ask(Sender(token, str(neighbours.theirs.id), operator), asked)
        never = await neighbours.asker.ask(Sender(token, NEVER, operator), asked)
        assert [_seen(said) for said in theirs] == [_seen(said) for said in never]
        assert {said.code for said in theirs} == {"COMPANY_REQUIRED"}
    assert await neighbours.records() == before
