"""The same decision in every interface: whether an operation is done, or the reason why not (specification,
section 5).
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import DONE, WAYS, Asker, Question, Said, Sender, Way, asking, done_status
from tests.support.credentials import NOBODYS, PLACES, STATUSES, Case, Credential, Issuer, Place, badges_for, right
from tests.support.shop import WAYS as STEPS_TO
from tests.support.thorough import IS_THOROUGH
from tests.support.two_tenants import (
    NEVER,
    OWN,
    SAMPLES,
    THEIRS,
    TwoTenants,
    body_of,
    needs_sample,
    open_premises,
    sample_of,
)
from tests.support.world import ETSM, UNLIMITED, World, all_rows, open_world
from wmsd.contract.access import MODULES, SUFFICES
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.interfaces.graphql.over_http import ROUTES as GRAPHQL_ROUTES
from wmsd.interfaces.graphql.root_fields import COLLECTIONS, MUTATIONS, QUERIES, TYPE_NAMES
from wmsd.interfaces.graphql.types import Types
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.interfaces.service import SERVED
from wmsd.warehouse.references_by_id import REFERENCES

pytestmark = pytest.mark.long


@dataclass
class AccessMatrix:
    """Both companies, and all kinds of callers."""

    world: World
    own: TwoTenants
    theirs: TwoTenants
    issuer: Issuer
    asker: Asker
    suffices: Mapping[str, str]
    held: int = 0
    wrong: list[str] = field(default_factory=list)
    sentences: dict[tuple[str | None, ...], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The sentences of each refusal, by everything that they may depend on."""

    async def hold(self, cases: Iterable[Case]) -> None:
        """Compare each case with the expected decision: first the refused ones, which must change nothing, then
        the rest.
        """
        refused: list[Case] = []
        allowed: list[Case] = []
        for case in cases:
            (allowed if right(case, self.suffices) == DONE else refused).append(case)
        await self.issuer.issue(case.credential for case in (*refused, *allowed))
        before = await self.all_records()
        await self._put(refused)
        if self.wrong:
            self.is_right()
        after = await self.all_records()
        assert {name for name in before if after[name] != before[name]} == set(), "a refusal has changed something"
        await self._put(allowed)

    async def _put(self, cases: Sequence[Case]) -> None:
        together: dict[tuple[Credential, Place], list[Case]] = defaultdict(list)
        for case in cases:
            together[case.credential, case.place].append(case)
        for (credential, place), some in together.items():
            questions = [await self._question(case) for case in some]
            said = await self.asker.ask(self._sender(credential, place), questions)
            for case, each in zip(some, said, strict=True):
                self._judge(case, each)
            if any(case.way.operation.name == "create_webhook" for case in some):
                await self.own.forget_webhooks()
                await self.theirs.forget_webhooks()

    def _sender(self, credential: Credential, place: Place) -> Sender:
        company, operator = self._company(place.company), place.operator
        operator_id = None if operator is None else str(self._premises(operator).operator)
        return Sender(self.issuer.token(credential), company, operator_id)

    def _company(self, code: str | None) -> str | None:
        if code in (None, NOBODYS):
            return code and NEVER
        return str(self._premises(code).id)

    def _premises(self, code: str | None) -> TwoTenants:
        return self.theirs if code == THEIRS else self.own

    async def _question(self, case: Case) -> Question:
        sample = sample_of(case.way.operations[0])
        where = self._premises(case.place.company)
        records = {"there": where.there, "of another company": self.theirs.alone}.get(case.record, {})
        nothing = "x" if case.record == "that has no id" else NEVER
        parts = {name: records.get(kind, nothing) for name, kind in sample.parts.items()}
        if sample.consumes and case.record == "there" and right(case, self.suffices) == DONE:
            parts["id"] = await where.new(sample.consumes)
        body = body_of(sample)
        if case.body == "wrong":
            body = {**(body or {}), **sample.wrong}
        return Question(case.way, parts, body)

    def _judge(self, case: Case, said: Said) -> None:
        self.held += 1
        code = right(case, self.suffices)
        operation = case.way.operation
        statuses = {STATUSES[code]} if code != DONE else {done_status(operation), operation.also_shown_with}
        if said.code != code or said.status not in statuses:
            self.wrong.append(f"{case}: {code or 'done'}, but was {said.status} {said.code} {said.message}")
        if code == DONE and case.way.interface == "GraphQL":
            assert said.code != DONE or said.shown not in (None, []), f"{case} shows nothing"
        is_of_whole_batch = case.way.interface == "batch" and case.off == "api"  # a batch is an operation too
        if code in ("UNAUTHORIZED", "COMPANY_REQUIRED", "FORBIDDEN") and not is_of_whole_batch:
            asked = (operation.name, case.credential.name, case.place.name, case.off)
            self.sentences[(*asked, *(each.name for each in case.way.operations[:-1]))].add(said.message)

    async def all_records(self) -> dict[tuple[str, str], list[Any]]:
        """Return all rows by file and table."""
        platform = await self.world.installation.platform.read(all_rows)
        files = {"own": await self.own.rows(), "theirs": await self.theirs.rows(), "platform": platform}
        return {(file, table): rows for file, tables in files.items() for table, rows in tables.items()}

    def is_right(self) -> None:
        assert not self.wrong, "\n".join([f"{len(self.wrong)} of {self.held}", *self.wrong[:40]])
        assert {asked: said for asked, said in self.sentences.items() if len(said) > 1} == {}


@asynccontextmanager
async def open_court(folder: Path, requires_write: bool = False) -> AsyncIterator[AccessMatrix]:
    settings = {**UNLIMITED, "returns": {"require_write_ability": requires_write}}
    async with open_world(folder / "data", settings) as world, asking(world) as asker:
        own, theirs = await open_premises(world, 5)
        suffices = {} if requires_write else SUFFICES
        yield AccessMatrix(world, own, theirs, Issuer(world, own), asker, suffices)


# --- completeness ------------------------------------------------------------------------------------------------

ONLY_REST = {
    "run_batch": "it carries requests of REST; a GraphQL document carries several questions itself",
}
"""The operations that REST can write but GraphQL cannot, with the reason."""
DECLARED = {
    operation.name: operation
    for operation in (
        *(route.operation for route in (*SERVED, *GRAPHQL_ROUTES)),
        *(each.operation for each in (*QUERIES, *MUTATIONS)),
        *(each.find for each in REFERENCES),
        *(each.find for each in COLLECTIONS),
    )
    if operation.scope in ("company", "site")
}


def test_every_operation_is_asked_for_in_every_way() -> None:
    asked = {way.operation.name for way in WAYS}
    assert set(DECLARED) == asked
    told = {(route.method, route.path) for route in SERVED if route.operation.name in DECLARED}
    assert told == {(way.route.method, way.route.path) for way in WAYS if way.route is not None}
    in_batches = {route.operation.name for route in V2 if route.operation.scope == "company"} - {"run_batch"}
    assert in_batches == {way.operation.name for way in WAYS if way.interface == "batch"}
    fields = {each.name for each in (*QUERIES, *MUTATIONS)}
    assert fields == {way.root.name for way in WAYS if way.root is not None}


def test_every_operation_with_a_path_or_a_body_has_a_sample() -> None:
    """A new operation fails here until `SAMPLES` has a request for it."""
    needed = {name for name, operation in DECLARED.items() if needs_sample(operation)}
    assert needed - set(SAMPLES) == set(), "these have no sample path and body"
    assert set(SAMPLES) - needed == set(), "these are no operations any more"
    for name in needed:
        sample, operation = SAMPLES[name], DECLARED[name]
        assert set(sample.parts) == set(operation.path_types), name
        assert (sample.body is None) == (operation.body is None), name
        assert (sample.body is None) or sample.wrong, f"{name} has no body that is refused"


def test_graphql_writes_what_rest_writes() -> None:
    """Every write that only one of the interfaces has needs a stated reason."""
    by_rest = {route.operation.name for route in (*V1, *V2) if _writes(route)}
    by_graphql = {each.operation.name for each in MUTATIONS}
    assert by_rest - by_graphql == set(ONLY_REST)
    assert by_graphql - by_rest == set()


def _writes(route: Route) -> bool:
    return route.operation.scope == "company" and route.method != "GET"


def test_graphql_shows_what_rest_shows() -> None:
    """GraphQL has a single record if REST has one, and a list if REST has a list."""
    by_rest = {
        _shown(route.operation)
        for route in (*V1, *V2)
        if route.operation.scope == "company" and not _writes(route)
    }
    by_graphql = {_shown(each.operation) for each in QUERIES}
    assert by_rest - by_graphql == set()
    assert by_graphql - by_rest == set()


def _shown(operation: Operation) -> tuple[str, str]:
    assert operation.returns is not None, operation.name
    name = Types(TYPE_NAMES).name_of(operation.returns)
    return name.removeprefix("Sparse"), "one" if operation.answer == "record" else "list"


def test_the_same_records_need_the_same_from_every_interface() -> None:
    """Walking a list, finding by ids and reading one record need the same ability and module."""
    writing = {route.operation.name for route in (*V1, *V2) if _writes(route)}
    needs = defaultdict(set)
    for operation in DECLARED.values():
        if operation.scope == "company" and operation.returns is not None:
            record, _ = _shown(operation)
            needs[record, operation.name in writing].add((operation.ability, operation.module))
    # to enter counts, and to book them
    assert needs.pop(("Count", True)) == {("stock:count", "stock"), ("stock:write", "stock")}
    assert {key: found for key, found in needs.items() if len(found) > 1} == {}


# --- the matrix --------------------------------------------------------------------------------------------------


def cases_with(off: str | None) -> Iterator[Case]:
    """Yield all combinations, except those that a disabled module cannot affect. For operations of other modules,
    only allowed callers are tried. Invalid tokens are tried only if no module, or the whole interface, is
    disabled.

    Unless the run is THOROUGH, invalid tokens are tried only if no module is disabled, and other modules only in
    REST: all interfaces share these checks.
    """
    all_tokens = (None, "api") if IS_THOROUGH else (None,)
    for way in WAYS:
        is_for_others = IS_THOROUGH or way.interface in ("REST v1", "REST v2")
        concerned = off in (None, "api", *(each.module for each in way.operations))
        for credential in badges_for(way):
            for place in PLACES:
                case = Case(way, credential, place, off)
                is_told_apart = concerned and (credential.is_good or credential.is_of_site or off in all_tokens)
                is_allowed = is_for_others and place.company == OWN and right(case) == DONE
                if is_told_apart or is_allowed:
                    yield case


async def test_who_may_do_what_where(tmp_path: Path) -> None:
    """REST, batches, GraphQL and the transport integration return the same code and the same sentence."""
    async with open_court(tmp_path) as matrix:
        for off in (None, *MODULES):
            if off is not None:
                await matrix.world.set_module(OWN, off, False)
            await matrix.hold(cases_with(off))
            if off is not None:
                await matrix.world.set_module(OWN, off, True)
        matrix.is_right()


async def test_returns_may_need_the_ability_to_write_them(tmp_path: Path) -> None:
    """The setting is returns.require_write_ability; without it, the ability to read returns is enough."""
    async with open_court(tmp_path, requires_write=True) as matrix:
        ways = [way for way in WAYS if any(each.ability in SUFFICES for each in way.operations)]
        assert {way.interface for way in ways} == {"REST v1", "GraphQL"}
        await matrix.hold(
            Case(way, credential, place) for way in ways for credential in badges_for(way) for place in PLACES
        )
        matrix.is_right()


async def test_what_is_not_there_and_what_is_wrong(tmp_path: Path) -> None:
    """A caller without the right gets the same refusal whether the record exists or not; a caller with the right
    learns which.
    """
    async with open_court(tmp_path) as matrix:
        for off in (None, "outbound"):
            if off is not None:
                await matrix.world.set_module(OWN, off, False)
            await matrix.hold(case for way in WAYS for case in cases_about(way, off))
            if off is not None:
                await matrix.world.set_module(OWN, off, True)
        matrix.is_right()


def cases_about(way: Way, off: str | None) -> Iterator[Case]:
    sample = sample_of(way.operations[0])
    records = ("there", "of nobody", "of another company", "that has no id") if sample.parts else ("there",)
    bodies = ("right", "wrong") if sample.body is not None else ("right",)
    for credential in badges_for(way):
        if off is not None and not (credential.is_good or credential.is_of_site):
            continue
        for record in records:
            for body in bodies:
                if (record, body) != ("there", "right"):
                    yield Case(way, credential, PLACES[0], off, record, body)


# --- moves of sales orders ---------------------------------------------------------------------------------------

MOVING = {
    "REST v1 PATCH /api/sales-orders/{id}",
    "REST v2 PATCH /api/v2/sales-orders/{id}/status",
    "batch PATCH /api/v2/sales-orders/{id}/status",
    "GraphQL mutation update_sales_order",
    "GraphQL mutation change_sales_order_status",
    "ETSM POST /api/integrations/etsm/transports/{transport_ecc}/status",
}
ONE_STEP = {"INCARCAT": {"IN_LUCRU", "INCARCAT"}, "LIVRAT": {"INCARCAT", "LIVRAT"}}
"""The statuses from which an order reaches the status by hand, including the status itself."""
READY_OR_PAST_IT = {"IN_LUCRU", "INCARCAT", "LIVRAT"}
"""The statuses from which an order reaches the status by its transport: a planner's call makes all moves, and may
be late.
"""


async def test_an_order_moves_alike_whoever_moves_it(tmp_path: Path) -> None:
    """A move that every interface forbids by hand is forbidden to a planner too, with the same code."""
    async with open_court(tmp_path) as matrix:
        ways = [way for way in WAYS if str(way) in MOVING]
        assert len(ways) == len(MOVING)
        for way, status, requested in product(ways, STEPS_TO, ONE_STEP):
            asked = Question(way, await _order_in(matrix.own, way, status), {"status": requested})
            token = matrix.own.site_token if way.interface == "ETSM" else matrix.world.token
            before = await matrix.all_records()
            (said,) = await matrix.asker.ask(Sender(token, str(matrix.own.id)), [asked])
            possible = READY_OR_PAST_IT if way.interface == "ETSM" else ONE_STEP[requested]
            right_code = DONE if status in possible else "INVALID_STATUS"
            assert said.code == right_code, (str(way), status, requested)
            if right_code != DONE:
                assert said.status == 409
                assert await matrix.all_records() == before


async def _order_in(own: TwoTenants, way: Way, status: str) -> dict[str, str]:
    """Create an order in that status, and return its id, or the id of its planned transport."""
    made = await own.order()
    parts = {"id": str(made.id)}
    if way.interface == "ETSM":
        parts = {"transport_ecc": f"T-{made.id}"}
        await own.send("POST", f"{ETSM}/transports", {**parts, "order_codes": [made.body["code"]]})
    for step in STEPS_TO[status]:
        await own.send("PATCH", f"/api/v2/sales-orders/{made.id}/status", {"status": step})
    return parts
