"""Tests of Idempotency-Key with flows, which wait for something outside before they write."""

import asyncio
import errno
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import UNLIMITED, Answer, World, open_world
from wmsd.base.problems import forbidden
from wmsd.contract.context import Company
from wmsd.contract.operation import Operation, operation
from wmsd.contract.results import Record
from wmsd.db.engine.database import Database
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch import idempotency
from wmsd.dispatch.call import Call, Loaded
from wmsd.warehouse.articles.actions import create_article
from wmsd.warehouse.articles.schema import Article, ArticleFields

ARTICLE = {"code": "A", "name": "Alpha"}
OUTCOME_UNKNOWN = (
    "The server ran short of memory, threads or open files: the change may or may not be stored. Check "
    "whether it is stored, or repeat the request with the same Idempotency-Key."
)


@dataclass
class Supplier:
    """A supplier that the flow asks, and that answers when the test lets it."""

    asked: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    heard: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def ask(self, code: str) -> None:
        self.asked.append(code)
        self.heard.release()
        await self.may_answer.wait()
        if self.failure is not None:
            raise self.failure


@operation(
    tag="Articles",
    answer="record",
    returns=Article,
    ability="articles:write",
    module="articles",
    writes=True,
    creates=True,
)
async def order_article(
    service: Supplier, body: ArticleFields, company: Company, database: Database
) -> Callable[[Transaction], Record]:
    """Ask the supplier of an article, then create it."""
    await service.ask(f"{body.code} for {company.code} in {database.path.stem}")
    return partial(create_article.action, body=body)


@pytest.fixture
def supplier(world: World) -> Supplier:
    service = Supplier()
    world.installation.dispatcher.add_service(service)
    return service


async def order(
    world: World,
    body: Mapping[str, object] = ARTICLE,
    declared: Operation = order_article,
    key: str | None = "k",
    **changes: Any,
) -> Answer:
    async def load() -> Loaded:
        return Loaded(dict(body), {})

    call = Call(declared, "POST", "/api/articles", "127.0.0.1", "r-1", load_body=load, idempotency_key=key)
    call = replace(call, token=world.token, company=str(world.company))
    reply = await world.installation.dispatcher.dispatch(replace(call, **changes))
    return Answer(reply.status, reply.headers, reply.body)


async def codes(world: World) -> list[str]:
    return [code for (code,) in await world.rows("SELECT code FROM articles ORDER BY id")]


async def kept(world: World) -> int:
    return int((await world.rows("SELECT count(*) FROM idempotency_keys"))[0][0])


async def under_way(work: Coroutine[Any, Any, Answer], supplier: Supplier) -> asyncio.Task[Answer]:
    """Start a request, and return it when it has asked the supplier and waits for the answer."""
    task, asking = asyncio.create_task(work), asyncio.create_task(supplier.heard.acquire())
    await asyncio.wait({task, asking}, timeout=10, return_when=asyncio.FIRST_COMPLETED)
    assert asking.done(), "it has not asked"
    return task


async def test_a_repetition_is_answered_byte_for_byte_as_the_first_time(world: World, supplier: Supplier) -> None:
    supplier.may_answer.set()
    first, again = await order(world), await order(world)
    assert (first.status, first.headers["Location"], first.body["code"]) == (201, "/api/articles/1", "A")
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (again.status, again.raw) == (first.status, first.raw)
    assert [again.headers[name] for name in ("ETag", "Location")] == [
        first.headers[name] for name in ("ETag", "Location")
    ]
    assert supplier.asked == ["A for ACME in 1"]
    assert [name for name, _ in await world.events_after(0)] == ["article.created"]


async def test_without_a_key_each_is_done(world: World, supplier: Supplier) -> None:
    supplier.may_answer.set()
    assert [(await order(world, {**ARTICLE, "code": code}, key=None)).status for code in "AB"] == [201, 201]
    assert (await codes(world), await kept(world)) == (["A", "B"], 0)


async def test_repetitions_wait_for_the_answer_of_the_first(world: World, supplier: Supplier) -> None:
    first = await under_way(order(world), supplier)
    others = [asyncio.create_task(order(world)) for _ in range(20)]
    await world.call("GET", "/api/articles")
    supplier.may_answer.set()
    answers = await asyncio.gather(first, *others)
    assert {(answer.status, answer.raw) for answer in answers} == {(201, answers[0].raw)}
    assert [answer.headers.get("Idempotent-Replayed") for answer in answers] == [None, *["true"] * 20]
    assert len(supplier.asked) == 1


async def test_others_write_while_it_waits(world: World, supplier: Supplier) -> None:
    first = await under_way(order(world), supplier)
    await world.call("POST", "/api/articles", {"code": "B", "name": "B"}, status=201, events=["article.created"])
    supplier.may_answer.set()
    assert ((await first).status, await codes(world)) == (201, ["B", "A"])


async def test_nobody_waits_for_another_key_or_another_company(world: World, supplier: Supplier) -> None:
    await world.new_company("OTHER")
    every = [await under_way(order(world), supplier)]
    every.append(await under_way(order(world, {**ARTICLE, "code": "B"}, key="l"), supplier))
    every.append(await under_way(order(world, company="2"), supplier))
    supplier.may_answer.set()
    assert [(await each).status for each in every] == [201, 201, 201]
    assert sorted(supplier.asked) == ["A for ACME in 1", "A for OTHER in 2", "B for ACME in 1"]


async def test_another_body_with_the_same_key_is_refused(world: World, supplier: Supplier) -> None:
    first = await under_way(order(world), supplier)
    beside = asyncio.create_task(order(world, {**ARTICLE, "name": "Other"}))
    await world.call("GET", "/api/articles")
    supplier.may_answer.set()
    assert (await first).status == 201
    for answer in (await beside, await order(world, {**ARTICLE, "code": "B"})):
        assert (answer.status, list(answer.errors)) == (422, ["Idempotency-Key"])
    assert len(supplier.asked) == 1


async def test_a_key_that_is_none_is_refused_before_anything_is_done(world: World, supplier: Supplier) -> None:
    answer = await order(world, key="a b")
    assert (answer.status, list(answer.errors)) == (422, ["Idempotency-Key"])
    assert supplier.asked == []


async def test_a_refusal_is_not_kept(world: World, supplier: Supplier) -> None:
    supplier.may_answer.set()
    supplier.failure = forbidden("Sold out.")
    assert (await order(world)).body == {"message": "Sold out.", "code": "FORBIDDEN"}
    supplier.failure = None
    assert ((await order(world)).status, len(supplier.asked)) == (201, 2)


async def test_a_refusal_of_the_last_unit_of_work_is_not_kept(world: World, supplier: Supplier) -> None:
    supplier.may_answer.set()
    await world.call("POST", "/api/articles", ARTICLE, status=201, events=["article.created"])
    assert (await order(world)).status == 422
    await world.call("PATCH", "/api/articles/1", {"code": "B"}, events=["article.updated"])
    assert (await order(world)).status == 201


async def test_whoever_waited_for_one_that_is_refused_is_done_anew(world: World, supplier: Supplier) -> None:
    supplier.failure = forbidden("Sold out.")
    first = await under_way(order(world), supplier)
    second = asyncio.create_task(order(world))
    supplier.may_answer.set()
    assert [(await first).status, (await second).status] == [403, 403]
    assert len(supplier.asked) == 2


async def test_what_is_broken_off_while_it_waits_leaves_nothing(world: World, supplier: Supplier) -> None:
    first = await under_way(order(world), supplier)
    second = asyncio.create_task(order(world))
    await world.call("GET", "/api/articles")
    first.cancel()
    supplier.may_answer.set()
    answer = await second
    assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (201, None)
    assert (await codes(world), len(supplier.asked)) == (["A"], 2)


async def test_what_it_writes_and_its_answer_are_kept_together_or_neither(
    world: World, supplier: Supplier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    supplier.may_answer.set()
    with monkeypatch.context() as failing:
        failing.setattr(idempotency, "keep", fail)
        assert (await order(world)).status == 500
    assert (await codes(world), await kept(world)) == ([], 0)
    answer = await order(world)
    assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (201, None)
    assert (await codes(world), await kept(world)) == (["A"], 1)


async def test_a_restarted_server_answers_as_before(tmp_path: Path) -> None:
    answers, token = [], ""
    for _ in range(2):
        async with open_world(tmp_path / "data", UNLIMITED) as world:
            service = Supplier()
            service.may_answer.set()
            world.installation.dispatcher.add_service(service)
            token = token or world.token
            answers.append(await order(world, token=token, company="1"))
    assert (service.asked, answers[1].raw) == ([], answers[0].raw)
    assert answers[1].headers["Idempotent-Replayed"] == "true"


async def test_where_it_is_off_nothing_is_asked_and_nothing_repeated(world: World, supplier: Supplier) -> None:
    off: list[str] = []
    declared = replace(order_article, off_because=lambda company: off[0] if off else None)
    supplier.may_answer.set()
    assert (await order(world, declared=declared)).status == 201
    off.append("Not today.")
    for key in ("k", "l", "a b", None):
        answer = await order(world, declared=declared, key=key)
        assert (answer.status, answer.body["message"]) == (403, "Not today.")
    assert len(supplier.asked) == 1


@pytest.mark.parametrize("key", ["k", None])
async def test_the_caller_does_what_it_ends_with(world: World, supplier: Supplier, key: str | None) -> None:
    async def note_actor(service: Supplier, **_: object) -> Callable[[Transaction], str]:
        return lambda tx: tx.actor.name

    declared = replace(order_article, action=note_actor)
    assert (await order(world, declared=declared, key=key)).body == "admin@example.com (test)"


async def test_in_a_shortage_nobody_says_that_nothing_was_done(world: World, supplier: Supplier) -> None:
    supplier.may_answer.set()
    supplier.failure = OSError(errno.EMFILE, "Too many open files")
    answer = await order(world)
    assert (answer.status, answer.body["code"]) == (503, "OUTCOME_UNKNOWN")
    assert answer.body["message"] == OUTCOME_UNKNOWN
