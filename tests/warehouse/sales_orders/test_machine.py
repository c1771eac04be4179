"""Orders, counts and moves in any order, compared with the model."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.dispatching import dispatch
from tests.support.shop import open_shop
from tests.support.stock_count import count_stock
from tests.warehouse.documents.machine import BEGINNING, EXAMINED_EVERY, SETTINGS, STEPS, Runs, open_runs
from tests.warehouse.sales_orders import strategies
from tests.warehouse.sales_orders.answers import ADDRESSES, Answers, Batch, Reply, Request, told
from tests.warehouse.sales_orders.observing import differences, foreseen, get, observe
from tests.warehouse.stock.model import ARTICLES, MILLION, WAREHOUSES, Event, Json, Place, shown
from wmsd.base.problems import Problem
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.maintenance.file_checks.company_checks import Difference, examine

pytestmark = pytest.mark.long

RUNS = STEPS * 30 // 1000
"""A few more runs than necessary: a run ends early when it has drawn too much data."""
ON = {"CREAT": "IN_LUCRU", "IN_LUCRU": "INCARCAT", "INCARCAT": "LIVRAT"}
OPENING = [((1, 1), 20 * MILLION), ((2, 1), 1_500_000), ((1, 2), 5 * MILLION)]
"""The opening stock of the shop: article and warehouse, with the quantity in millionths."""


class OrdersMachine(RuleBasedStateMachine):
    """A state machine that compares each reply, and after each step all visible data, with the model."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self.runs, self.run = runs, runs.loop.run_until_complete
        self.world = runs.new_company()
        self.run(open_shop(self.world))
        self.last_event: int = self.run(self.world.last_event())
        self.answers = Answers()
        self.orders = self.answers.orders
        self.orders.clock.begin_after(self.run(self.world.last_change()))
        self.orders.stock.count(OPENING)
        self.caused: list[Event] = []
        self.keyed: list[Request | Batch] = []
        self.steps = 0

    def teardown(self) -> None:
        self.run(self.close())

    async def close(self) -> None:
        findings = await self.examined()
        await (await self.world.database()).close()
        assert findings == []

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        self.steps += 1
        self.runs.steps += 1  # this runs after each rule; the first rule is the initialization
        seen = self.run(observe(self.world, self.last_event))
        self.last_event += len(seen.events)
        expected = foreseen(self.orders, self.caused)
        assert seen == expected, "\n".join(differences(seen, expected))
        assert all(figure >= 0 for figures in seen.stock.values() for figure in figures)
        self.caused = []

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        if self.steps % EXAMINED_EVERY == 0:
            assert self.run(self.examined()) == []

    async def examined(self) -> list[Difference]:
        return (await (await self.world.database()).read_long(examine)).differences

    @initialize(bodies=st.lists(strategies.ORDERS, min_size=2, max_size=5))
    def some_orders_are_there(self, bodies: list[Json]) -> None:
        self.ask_together(Batch([Request("create", body=body) for body in bodies], None))

    @rule(body=strategies.ORDERS, is_keyed=st.booleans())
    def an_order_is_created(self, body: Json, is_keyed: bool) -> None:
        self.ask(Request("create", body=body, key=self.key(is_keyed)))

    @rule(body=strategies.ORDERS, names=strategies.NAMES)
    def an_order_is_created_with_names_of_its_own(self, body: Json, names: Json) -> None:
        self.ask(Request("create", body={**body, **names}))

    @rule(body=strategies.ORDERS, mistakes=strategies.MISTAKES)
    def an_order_is_created_with_mistakes(self, body: Json, mistakes: Json) -> None:
        self.ask(Request("create", body={**body, **mistakes}))

    @precondition(lambda self: self.orders.by_id)
    @rule(back=strategies.BACK, is_keyed=st.booleans())
    def an_order_goes_on(self, back: int, is_keyed: bool) -> None:
        status = ON.get(self.orders.by_id[self.order(back)].status, "CREAT")
        self.ask(Request("move", self.order(back), {"status": status}, self.key(is_keyed)))

    @rule(back=strategies.BACK, status=strategies.STATUSES, is_keyed=st.booleans())
    def an_order_is_moved(self, back: int, status: str, is_keyed: bool) -> None:
        self.ask(Request("move", self.order(back), {"status": status}, self.key(is_keyed)))

    @rule(back=strategies.BACK, changes=strategies.CHANGES, is_keyed=st.booleans())
    def an_order_is_changed(self, back: int, changes: Json, is_keyed: bool) -> None:
        self.ask(Request("update", self.order(back), changes, self.key(is_keyed)))

    @rule(back=strategies.BACK, mistakes=strategies.MISTAKES)
    def an_order_is_changed_with_mistakes(self, back: int, mistakes: Json) -> None:
        self.ask(Request("update", self.order(back), mistakes))

    @rule(back=strategies.BACK, body=strategies.ORDERS, is_keyed=st.booleans())
    def an_order_is_replaced(self, back: int, body: Json, is_keyed: bool) -> None:
        self.ask(Request("replace", self.order(back), body, self.key(is_keyed)))

    @precondition(lambda self: self.orders.by_id)
    @rule(back=strategies.BACK, changes=strategies.CHANGES, is_reversed=st.booleans())
    def what_was_got_is_sent_back(self, back: int, changes: Json, is_reversed: bool) -> None:
        body = self.run(get(self.world, f"/api/sales-orders/{self.order(back)}"))
        lines = body["lines"][::-1] if is_reversed else body["lines"]
        self.ask(Request("replace", self.order(back), {**body, "lines": lines, **changes}))

    @rule(action=st.sampled_from(["get", "move", "update"]))
    def nobody_knows_the_order(self, action: str) -> None:
        self.ask(Request(action, len(self.orders.by_id) + 1, {} if action == "get" else {"status": "ANULAT"}))

    @precondition(lambda self: self.keyed)
    @rule(back=strategies.BACK, is_another=st.booleans())
    def a_key_is_used_again(self, back: int, is_another: bool) -> None:
        asked = self.keyed[max(0, len(self.keyed) - 1 - back)]
        if isinstance(asked, Batch):
            self.ask_together(asked)
        elif is_another:
            another = {"status": "ANULAT"} if asked.action == "move" else {"notes": "another"}
            self.ask(replace(asked, body={**asked.body, **another}))
        else:
            self.ask(asked)

    @rule(
        asked=st.lists(strategies.ASKED, min_size=1, max_size=5), is_keyed=st.booleans(), are_keyed=st.booleans()
    )
    def several_are_asked_together(
        self, asked: list[tuple[str, int, Json]], is_keyed: bool, are_keyed: bool
    ) -> None:
        requests = []
        for number, (action, back, body) in enumerate(asked):
            own_key = f"{self.key(True)}-{number}" if are_keyed and action != "get" else None
            requests.append(Request(action, None if action == "create" else self.order(back), body, own_key))
        self.ask_together(Batch(requests, self.key(is_keyed)))

    @rule(place=strategies.PLACES, counted=strategies.COUNTS)
    def stock_is_counted(self, place: Place, counted: int) -> None:
        errors, events = self.orders.stock.count([(place, counted)])
        self.caused += events
        assert self.run(self.count(*place, counted)) == {column for _, column in errors}
        self.orders.clock.begin_after(self.run(self.world.last_change()))

    async def count(self, article: int, warehouse: int, counted: int) -> set[str]:
        """Count the stock, and return the paths of the errors."""
        database = await self.world.database()
        try:
            await database.write(lambda tx: count_stock(tx, article, warehouse, counted, "count"))
        except Problem as problem:
            return set(problem.errors)
        return set()

    @rule(counts=st.lists(st.tuples(strategies.PLACES, strategies.COUNTS), min_size=1, max_size=4))
    def counts_are_imported(self, counts: list[tuple[Place, int]]) -> None:
        errors, events = self.orders.stock.count(counts)
        self.caused += events
        rows = [f"{ARTICLES[place[0]]},{WAREHOUSES[place[1]]},{shown(counted):f}\n" for place, counted in counts]
        assert self.run(self.import_counts("".join(rows))) == errors
        self.orders.clock.begin_after(self.run(self.world.last_change()))

    async def import_counts(self, rows: str) -> set[tuple[int, str]]:
        """Import the counts, and return row and column of each error."""
        try:
            await self.world.import_csv("stock", f"article_code,warehouse_code,quantity\n{rows}")
        except ImportRefused as refused:
            return {(error.line - 2, error.column) for error in refused.outcome.errors.first}
        return set()

    @rule(seconds=strategies.OFFSETS)
    def the_wall_clock_is_set(self, seconds: float) -> None:
        self.world.clock.wall = BEGINNING + timedelta(seconds=seconds)

    def order(self, back: int) -> int:
        return max(1, len(self.orders.by_id) - back)

    def key(self, is_keyed: bool) -> str | None:
        return f"key-{self.runs.steps}" if is_keyed else None

    def ask(self, request: Request) -> None:
        if request.key:
            self.keyed.append(request)
        expected = self.expected(request)
        method, path = ADDRESSES[request.action]
        path = path.format(request.order_id)
        answer = self.run(dispatch(self.world, method, path, request.body, request.key))
        found = told(answer.status, answer.body, answer.headers)
        assert found == expected, f"{request}\n{found}, but not\n{expected}"

    def ask_together(self, batch: Batch) -> None:
        if batch.key:
            self.keyed.append(batch)
        expected = [
            self.expected(request, f"{batch.key} {place}" if batch.key else "")
            for place, request in enumerate(batch.requests)
        ]
        answer = self.run(dispatch(self.world, "POST", "/api/v2/batch", batch.as_sent(), batch.key))
        slots = answer.body["responses"]
        for slot, request, reply in zip(slots, batch.requests, expected, strict=True):
            found = told(slot["status"], slot["body"], slot.get("headers", {}))
            assert found == reply, f"{request}\n{found}, but not\n{reply}"

    def expected(self, request: Request, batch_key: str = "") -> Reply:
        reply, events = self.answers.answer(request, self.world.installation.clock, batch_key)
        self.caused += events
        return reply


def test_many_steps(tmp_path: Path) -> None:
    with open_runs(tmp_path) as runs:
        machine: Any = partial(OrdersMachine, runs)
        run_state_machine_as_test(machine, settings=settings(SETTINGS, max_examples=RUNS))
    assert runs.steps >= STEPS
