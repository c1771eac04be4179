"""Shared parts of the state machines over documents: a company for each run, requests with the model's replies,
and a check of all visible data. With THOROUGH, the machines take more steps, and different steps in each run.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from tests.support.steering import SteeredClock
from tests.support.thorough import IS_THOROUGH
from tests.support.world import UNLIMITED, World, open_world
from tests.warehouse.documents.answers import Request
from tests.warehouse.documents.model import Book, Document
from tests.warehouse.documents.scene import open_scene
from tests.warehouse.stock.model import MILLION, Json

STEPS = 10_000 if IS_THOROUGH else 300
STEPS_OF_A_RUN = 50
RUNS = STEPS // STEPS_OF_A_RUN * 3 // 2
"""50% more runs than necessary: a run ends early when it has drawn too much data."""
EXAMINED_EVERY = 10
SEEDS = range(50 if IS_THOROUGH else 2)
"""The seeds of the other random tests of documents, which are not state machines."""
BEGINNING = SteeredClock().wall


@dataclass
class Runs:
    """Shared state of all runs: an installation in which each run has a separate company."""

    world: World
    loop: asyncio.AbstractEventLoop
    count: int = 0
    steps: int = 0

    def new_company(self) -> World:
        """Create the company of one run. The clock is reset to the same time for each run."""
        self.count += 1
        self.world.clock.wall = BEGINNING
        opening = self.world.new_company(f"RUN-{self.count}")
        return replace(self.world, company=self.loop.run_until_complete(opening))


@contextmanager
def open_runs(folder: Path) -> Iterator[Runs]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        world = runner.run(stack.enter_async_context(open_world(folder / "data", UNLIMITED)))
        try:
            yield Runs(world, runner.get_loop())
        finally:
            runner.run(stack.aclose())


class DocumentsMachine(RuleBasedStateMachine):
    """A state machine that compares each reply, and after each step all visible data, with the model."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self.runs, self.run = runs, runs.loop.run_until_complete
        self.world = runs.new_company()
        self.scene = self.run(open_scene(self.world))
        self.depot = self.scene.depot
        self.keyed: list[Request] = []
        self.steps = 0

    def teardown(self) -> None:
        self.run(self.close())

    async def close(self) -> None:
        findings = await self.scene.examined()
        await (await self.world.database()).close()
        assert findings == []

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        self.steps += 1
        self.runs.steps += 1
        self.run(self.scene.look())

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        if self.steps % EXAMINED_EVERY == 0:
            assert self.run(self.scene.examined()) == []

    @invariant()
    def the_laws_of_stock_hold(self) -> None:
        """Check that lots sum to at most the balance, that serials sum to at most their lots, and that nothing is
        below 0.
        """
        stock = self.depot.stock
        for place, shelf in stock.shelves.items():
            serials = [serial for serial in stock.serials.values() if serial.place == place]
            assert sum(lot.quantity for lot in shelf.lots.values()) <= shelf.quantity, place
            assert len(serials) * MILLION <= shelf.quantity, place
            for name, lot in shelf.lots.items():
                assert sum(serial.lot == name for serial in serials) * MILLION <= lot.quantity, (place, name)
                assert stock.free_of_lot(place, name) >= 0, (place, name)
        for place, balance in stock.balances().items():
            assert min(balance.quantity, balance.reserved, balance.quarantined, balance.available) >= 0, place

    def ask(
        self, method: str, kind: str, id: int | None = None, body: Json | None = None, key: bool = False
    ) -> None:
        request = Request(method, kind, id, body or {}, f"key-{self.runs.steps}" if key else None)
        if key:
            self.keyed.append(request)
        self.run(self.scene.ask(request))

    def send_again(self, back: int, another: Json) -> None:
        """Repeat a request with an Idempotency-Key, with the same or another body."""
        asked = self.keyed[max(0, len(self.keyed) - 1 - back)]
        self.run(self.scene.ask(replace(asked, body={**asked.body, **another})))


def latest(book: Book, back: int) -> Document:
    """Return the document `back` places before the latest one."""
    documents = list(book.by_id.values())
    return documents[max(0, len(documents) - 1 - back)]


SETTINGS = settings(
    stateful_step_count=STEPS_OF_A_RUN,
    phases=[Phase.generate, Phase.shrink],
    derandomize=not IS_THOROUGH,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def walk(machine: type[DocumentsMachine], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the machine for the configured number of steps, and print how many there were."""
    with open_runs(folder) as runs:
        made: Any = partial(machine, runs)
        try:
            run_state_machine_as_test(made, settings=settings(SETTINGS, max_examples=RUNS))
        finally:
            with capsys.disabled():
                print(f"\n{machine.__name__}: {runs.steps} steps in {runs.count} companies")
    assert runs.steps >= STEPS
