"""Tests of the dispatcher: which requests it accepts, what it counts, and on which threads it has work done."""

import asyncio
import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.dispatching import call_for, creation, performed
from tests.support.world import World, open_world
from wmsd.base.cursor import UNKNOWN
from wmsd.base.problems import Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.call import Loaded
from wmsd.dispatch.large_bodies import MEBIBYTE
from wmsd.warehouse.counts import actions as counts
from wmsd.warehouse.counts.count_entries import Entries

LIST, PLATFORM = "/api/v2/stock", "/api/user"
OTHERS = UNKNOWN
WHICH_COMPANY = "Send X-Company-Id with the id of a company that this token may use (GET /api/companies)."


@pytest.fixture
async def stocked(world: World) -> World:
    """Return a world with five articles in one warehouse."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\n" + "".join(f"A{n},Article\n" for n in range(5)))
    rows = "".join(f"A{n},MAIN,1\n" for n in range(5))
    await world.import_csv("stock", f"article_code,warehouse_code,quantity\n{rows}")
    return world


async def walk(world: World, query: str) -> tuple[list[str], str | None]:
    """Return the codes of the articles, and the cursor of the next page."""
    answer = await world.call("GET", f"{LIST}?{query}")
    return [record["article_code"] for record in answer.body["data"]], answer.body["next_cursor"]


async def test_a_walk_by_cursors_has_every_record_once(stocked: World) -> None:
    found, cursor = await walk(stocked, "per_page=2")
    assert found == ["A0", "A1"]
    found, cursor = await walk(stocked, f"per_page=2&cursor={cursor}")
    assert found == ["A2", "A3"]
    assert await walk(stocked, f"per_page=2&cursor={cursor}") == (["A4"], None)


@pytest.mark.parametrize("sent", ["", "warehouse_id=1"])
async def test_a_cursor_is_of_its_list_its_filters_and_its_company(stocked: World, sent: str) -> None:
    _, cursor = await walk(stocked, f"per_page=2&{sent}")
    assert cursor is not None
    assert (await walk(stocked, f"per_page=1&{sent}&cursor={cursor}"))[0] == ["A2"]
    other = await stocked.new_company("OTHER")
    for path, filters, company in (
        (LIST, "warehouse_id=2", None),
        (LIST, sent, other),
        ("/api/articles/sync", "", None),
    ):
        answer = await stocked.call("GET", f"{path}?{filters}&cursor={cursor}", company=company, status=422)
        assert answer.errors == {"cursor": [OTHERS]}, path
    answer = await stocked.call("GET", f"{LIST}?{sent}&cursor=!", status=422)
    assert answer.errors == {"cursor": ["is not a cursor of this list. Start again without a cursor"]}


async def test_what_is_wrong_with_a_query_is_said_at_once_and_before_its_cursor(stocked: World) -> None:
    """All errors of a query are reported together, before its cursor.

    Without its filters a cursor cannot be checked.
    """
    answer = await stocked.call("GET", f"{LIST}?per_page=0&unknown=1&cursor=x", status=422)
    assert set(answer.errors) == {"per_page", "unknown"}


@pytest.mark.parametrize("operator", ["", "x", "0", "01", "1" * 16, "-1"])
async def test_what_is_no_id_of_an_operator_opens_nothing(world: World, operator: str) -> None:
    headers = {"X-Three-Pl-Id": operator}
    for path, company in (("/api/companies", ""), (LIST, None)):
        answer = await world.call("GET", path, company=company, headers=headers, status=403)
        assert answer.body == {"message": "X-Three-Pl-Id is not the id of an operator.", "code": "FORBIDDEN"}


def nothing(tx: Transaction) -> None:
    pass


@pytest.mark.parametrize("query", [{}, {"search": "x"}])
async def test_what_was_given_up_before_it_ran_does_not_run(world: World, query: dict[str, str]) -> None:
    ran: list[str] = []
    given_up = await world.installation.dispatcher.begin(
        call_for(world, "GET", lambda tx: ran.append("first"), query=query)
    )
    given_up.give_up()
    assert (await performed(world, "GET", lambda tx: ran.append("second"), query=query)).status == 204
    assert ran == ["second"]
    assert given_up.pending is not None
    with pytest.raises((asyncio.CancelledError, RuntimeError)):
        await given_up.pending


@pytest.mark.parametrize(("path", "holder"), [("/api/articles", "1"), (PLATFORM, "")])
async def test_what_a_call_holds_of_a_large_body_is_given_back_to_its_company(
    world: World, path: str, holder: str
) -> None:
    budget = world.installation.dispatcher.bodies.budget
    most = budget.of_a_company
    budget.hold(holder, most)

    async def load() -> Loaded:
        return Loaded({}, {})

    call = call_for(world, "GET", nothing, path, held_bytes=most, load_body=load)
    assert (await world.installation.dispatcher.dispatch(call)).status == 204
    assert (call.load_body, budget.held()) == (None, 0)
    budget.hold(holder, most)


async def test_every_answer_counts(world: World) -> None:
    assert world.installation.dispatcher.answered == 0
    for token in (world.token, "wrong"):
        await performed(world, "GET", nothing, token=token)
    assert world.installation.dispatcher.answered == 2


async def test_a_request_within_another_uses_up_no_address(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"refused_per_minute": 1}}) as world:
        for is_inner, status in ((True, 401), (True, 401), (False, 401), (False, 429)):
            assert (await performed(world, "GET", nothing, token="wrong", is_inner=is_inner)).status == status


async def test_one_that_was_counted_is_not_counted_again(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 2}}) as world:
        for is_counted, left in ((True, None), (False, "1"), (True, None), (False, "0")):
            answer = await performed(world, "GET", nothing, is_counted=is_counted)
            assert (answer.status, answer.headers.get("X-RateLimit-Remaining")) == (204, left)
        assert (await performed(world, "GET", nothing, is_counted=True)).status == 204
        assert (await performed(world, "GET", nothing)).status == 429
        assert (await performed(world, "GET", nothing, PLATFORM)).status == 204, "a user has a limit of his own"


async def test_a_user_has_one_limit_over_all_addresses(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 2}}) as world:
        for address, status in (("192.0.2.1", 204), ("192.0.2.2", 204), ("192.0.2.3", 429)):
            assert (await performed(world, "GET", nothing, PLATFORM, address=address)).status == status
        await world.new_user("other@example.com", "platform-admin")
        token = await world.new_token("other@example.com")
        assert (await performed(world, "GET", nothing, PLATFORM, token=token)).status == 204


@pytest.mark.parametrize("company", [None, "", "0", "01", "+1", "1 ", "x", "2", "1" * 16, "\u0661"])
async def test_a_company_is_named_by_its_id(world: World, company: str | None) -> None:
    answer = await performed(world, "GET", nothing, company=company)
    assert (answer.status, answer.body) == (422, {"code": "COMPANY_REQUIRED", "message": WHICH_COMPANY})


async def test_an_operator_is_named_by_its_own_companies_only(world: World) -> None:
    operator = await world.new_operator("3PL")
    theirs = str(await world.new_company("THEIRS", operator="3PL"))
    assert (await performed(world, "GET", nothing, company=theirs, operator=str(operator))).status == 204
    for company, named in ((theirs, str(operator + 1)), ("1", str(operator))):
        answer = await performed(world, "GET", nothing, company=company, operator=named)
        assert (answer.status, answer.body["message"]) == (
            403,
            "X-Three-Pl-Id is not the id of this company's operator. Correct the id, or leave the header out.",
        )


async def test_a_refusal_names_what_is_missing(world: World) -> None:
    token = await world.new_token("admin@example.com", ["stock:read"])
    answer = await performed(world, "GET", nothing, token=token)
    assert (answer.status, answer.body["message"]) == (403, "This token lacks the ability articles:read.")
    for module in ("articles", "api"):
        await world.set_module("ACME", module, False)
        answer = await performed(world, "GET", nothing)
        assert (answer.status, answer.body["message"]) == (403, f"The module {module} is off for this company.")


async def test_what_is_wrong_in_query_and_body_is_told_together(world: World) -> None:
    answer = await world.call("POST", "/api/articles?x=1&y=2", {"name": ""}, status=422)
    assert set(answer.errors) == {"x", "y", "name", "code"}


async def test_a_document_without_a_company_counts_for_its_user(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"graphql_per_minute": 1}}) as world:
        for company, status in (("", 200), ("", 429), ("1", 200), ("1", 429)):
            answer = await world.send("POST", "/api/graphql", {"query": "{ __typename }"}, company=company)
            assert answer.status == status


async def test_a_request_is_counted_for_its_company(world: World) -> None:
    other = str(await world.new_company("OTHER"))
    for company in ("1", other, other):
        await performed(world, "GET", nothing, company=company)
    await performed(world, "GET", nothing, PLATFORM)
    counted = await world.installation.requests.read()
    assert {company: each.count for company, each in counted.items()} == {1: 1, int(other): 2}


async def test_what_needs_no_token_is_done_by_the_program(world: World) -> None:
    def actor(tx: Transaction) -> str:
        return tx.actor.name

    assert (await performed(world, "GET", actor, PLATFORM)).body == "admin@example.com (test)"
    assert (await performed(world, "GET", actor, PLATFORM, is_open=True, token=None)).body == "wmsd"


async def test_a_search_runs_beside_the_event_loop_and_other_reads_on_it(world: World) -> None:
    def thread(tx: Transaction) -> int:
        return threading.get_ident()

    assert (await performed(world, "GET", thread)).body == threading.get_ident()
    assert (await performed(world, "GET", thread, query={"search": "x"})).body != threading.get_ident()


async def test_a_key_may_come_without_a_body(world: World) -> None:
    ran: list[str] = []
    for _ in range(2):
        answer = await performed(world, "POST", lambda tx: ran.append("once"), idempotency_key="k")
        assert answer.status == 204
    assert ran == ["once"]


async def test_a_key_is_nothing_to_the_platform(world: World) -> None:
    call = call_for(world, "GET", nothing, PLATFORM, idempotency_key="k")
    call.method, call.operation = "POST", replace(call.operation, writes=True)
    assert (await world.installation.dispatcher.dispatch(call)).status == 204


@pytest.mark.parametrize(("is_required", "status"), [(False, 204), (True, 403)])
async def test_reading_returns_suffices_to_write_them_unless_it_is_set_otherwise(
    tmp_path: Path, is_required: bool, status: int
) -> None:
    async with open_world(tmp_path / "data", {"returns": {"require_write_ability": is_required}}) as world:
        for abilities, method, found in (
            (["returns:read"], "POST", status),
            (["returns:read"], "GET", 204),
            (["articles:read"], "POST", 403),
        ):
            token = await world.new_token("admin@example.com", abilities)
            assert (await performed(world, method, nothing, "/api/returns", token=token)).status == found


async def test_the_answers_of_batches_that_are_kept_have_a_bound(world: World) -> None:
    kept = world.installation.dispatcher.kept_answers
    kept.hold("1", 32 * MEBIBYTE)
    with pytest.raises(Problem, match="Too many large batches at the same time"):
        kept.hold("1", 1)
    for company, share in (("2", 32), ("3", 32), ("4", 31), ("5", 1)):
        kept.hold(company, share * MEBIBYTE)
    with pytest.raises(Problem, match="Too many large batches at the same time"):
        kept.hold("5", 1)


async def test_a_platforms_answer_about_a_company_needs_none_of_its_modules(world: World) -> None:
    await world.set_module("ACME", "api", False)
    await world.call("GET", "/api/v2/meta")


@pytest.mark.parametrize("part", ["x", "0", "01", "-1", "1" * 16])
async def test_where_an_id_is_no_id_there_is_nothing(world: World, part: str) -> None:
    answer = await world.call("GET", f"/api/articles/{part}", status=404)
    assert answer.body["message"] == "There is no such article."


async def test_without_a_body_all_that_is_required_is_missing(world: World) -> None:
    reply = await world.installation.dispatcher.dispatch(creation(world, None))
    assert (reply.status, json.loads(reply.body)["errors"]) == (
        422,
        {"code": ["is required"], "name": ["is required"]},
    )


async def test_errors_of_the_text_are_told_with_what_is_wrong_in_it(world: World) -> None:
    async def load() -> Loaded:
        return Loaded({"code": "A"}, {"code": ["is given twice"]})

    reply = await world.installation.dispatcher.dispatch(creation(world, load))
    assert (reply.status, json.loads(reply.body)["errors"]) == (
        422,
        {"code": ["is given twice"], "name": ["is required"]},
    )


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_time_of_a_unit_of_work_is_charged_wherever_it_runs(world: World, method: str) -> None:
    def work(tx: Transaction) -> None:
        time.sleep(0.01)

    call = call_for(world, method, work)
    assert (await world.installation.dispatcher.dispatch(call)).status == 204
    assert call.beside_seconds >= 0.01


class Noting(dict[str, object]):
    """A document that records on which threads it is read, and waits there for the reading of others."""

    def __init__(self, document: dict[str, object], others: threading.Barrier | None = None) -> None:
        super().__init__(document)
        self.threads: set[int] = set()
        self.others = others

    def items(self) -> Any:
        self.threads.add(threading.get_ident())
        if self.others is not None:
            self.others.wait(10)
        return super().items()


async def create(world: World, document: Noting, is_large: bool, company: str = "1") -> int:
    """Create an article and return the status."""

    async def load() -> Loaded:
        return Loaded(document, {}, is_large)

    call = creation(world, load)
    call.company = company
    return (await world.installation.dispatcher.dispatch(call)).status


@pytest.mark.parametrize("is_large", [False, True])
async def test_a_large_body_is_read_beside_the_event_loop(world: World, is_large: bool) -> None:
    document = Noting({"code": "A", "name": "Alpha"})
    assert await create(world, document, is_large) == 201
    assert (threading.get_ident() in document.threads) is not is_large


async def test_large_bodies_of_two_companies_are_read_at_once(world: World) -> None:
    other = str(await world.new_company("OTHER"))
    both = threading.Barrier(2)
    creations = [
        create(world, Noting({"code": "A", "name": "Alpha"}, both), True, company) for company in ("1", other)
    ]
    assert await asyncio.gather(*creations) == [201, 201]


@pytest.mark.parametrize("searched", [None, "Article"])
async def test_a_write_that_may_search_does_not_run_on_the_event_loop(
    stocked: World, searched: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite cannot interrupt a full-text query for a time limit."""
    list_stock, threads = counts._list_of_stock, set[int]()

    def noted(tx: Transaction, warehouse_id: int, article_search: str | None) -> Entries:
        threads.add(threading.get_ident())
        return list_stock(tx, warehouse_id, article_search)

    monkeypatch.setattr(counts, "_list_of_stock", noted)
    sent = {"warehouse_id": 1, "article_search": searched}
    answer = await stocked.send("POST", "/api/v2/counts", sent)
    assert (answer.status, len(answer.body["lines"])) == (201, 5)
    assert len(threads - {threading.get_ident()}) == len(threads) == 1
