"""Article sync: every change is met, whatever happens during the walk and whatever the clock does."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.support.world import UNLIMITED, World, open_world


class SyncMachine(RuleBasedStateMachine):
    """An integrator walks while others change articles and the wall clock jumps.

    The law: after a whole walk, the integrator's copy holds every article as it stood when the walk began,
    or later. After one more walk with nothing in between, it is equal.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        folder = Path(self.loop.run_until_complete(self._folder()))
        self.world: World = self.run(self.stack.enter_async_context(open_world(folder, UNLIMITED)))
        self.truth: dict[int, str] = {}
        self.copy: dict[int, str] = {}
        self.cursor: str | None = None
        self.walking = False
        self.owed: dict[int, str] = {}
        self.since: str | None = None
        self.largest: str | None = None
        self.count = 0

    async def _folder(self) -> str:
        return self.stack.enter_context(tempfile.TemporaryDirectory())

    def run(self, awaitable: Any) -> Any:
        return self.loop.run_until_complete(awaitable)

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()

    @rule(seconds=st.sampled_from([0.0, 0.001, 0.4, 90.0, 86_400.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.advance(seconds)

    @rule(seconds=st.sampled_from([0.001, 1.0, 3_600.0, 864_000.0]))
    def the_clock_is_set_back(self, seconds: float) -> None:
        self.world.clock.set_back(seconds)

    @rule()
    def an_article_is_created(self) -> None:
        self.count += 1
        body = {"code": f"C{self.count}", "name": "new"}
        answer = self.run(self.world.call("POST", "/api/articles", body, status=201, events=["article.created"]))
        self.truth[answer.id] = "new"

    @precondition(lambda self: self.truth)
    @rule(choice=st.integers(0, 10**6))
    def an_article_is_changed(self, choice: int) -> None:
        self.count += 1
        article_id = sorted(self.truth)[choice % len(self.truth)]
        name = f"name {self.count}"
        path = f"/api/articles/{article_id}"
        self.run(self.world.call("PATCH", path, {"name": name}, events=["article.updated"]))
        self.truth[article_id] = name

    @precondition(lambda self: not self.walking)
    @rule()
    def a_walk_begins(self) -> None:
        self.walking, self.cursor = True, None
        self.since = self.largest
        self.owed = dict(self.truth)
        self.step()

    @precondition(lambda self: self.walking)
    @rule()
    def the_walk_goes_on(self) -> None:
        self.step()

    @precondition(lambda self: self.walking)
    @rule()
    def the_walk_is_given_up(self) -> None:
        """The integrator crashes: what it did not finish, it does not remember as walked."""
        self.walking = False
        self.largest = self.since

    def step(self) -> None:
        query = "per_page=2"
        query += f"&updated_since={quote(self.since)}" if self.since else ""
        query += f"&cursor={self.cursor}" if self.cursor else ""
        body = self.run(self.world.call("GET", f"/api/articles/sync?{query}")).body
        for article in body["data"]:
            self.copy[article["id"]] = article["name"]
            self.largest = max(self.largest or "", article["updated_at"])
        self.cursor = body["next_cursor"]
        self.walking = self.cursor is not None
        if not self.walking:
            self.nothing_was_skipped()

    def nothing_was_skipped(self) -> None:
        for article_id, name in self.owed.items():
            held = self.copy.get(article_id)
            assert held is not None, f"article {article_id} was never met"
            assert held == name or held == self.truth[article_id] or newer(held, name), (held, name)

    @invariant()
    def pages_agree_with_the_truth(self) -> None:
        assert self.copy.keys() <= self.truth.keys()


def newer(held: str, name: str) -> bool:
    return number(held) > number(name)


def number(name: str) -> int:
    return int(name.partition(" ")[2] or 0)


TestSync = SyncMachine.TestCase
TestSync.settings = settings(
    max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)


async def test_a_change_during_a_walk_is_met_in_it(world: World) -> None:
    for place in range(4):
        body = {"code": f"C{place}", "name": "old"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    first = (await world.call("GET", "/api/articles/sync?per_page=2")).body
    await world.call("PATCH", "/api/articles/1", {"name": "new"}, events=["article.updated"])
    second = (await world.call("GET", f"/api/articles/sync?per_page=2&cursor={first['next_cursor']}")).body
    third = (await world.call("GET", f"/api/articles/sync?per_page=2&cursor={second['next_cursor']}")).body
    assert [(a["code"], a["name"]) for a in third["data"]] == [("C0", "new")]
    assert third["next_cursor"] is None


async def test_only_what_changed_after_the_given_moment(world: World) -> None:
    for place in range(3):
        body = {"code": f"C{place}", "name": "x"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
        world.clock.advance(60)

    async def since(moment: str) -> list[str]:
        answer = await world.call("GET", f"/api/articles/sync?updated_since={quote(moment)}")
        return [article["code"] for article in answer.body["data"]]

    assert await since("2026-11-20T12:00:00Z") == ["C1", "C2"]
    assert await since("2026-11-20T11:59:59.999Z") == ["C0", "C1", "C2"]
    assert await since("2026-11-20T14:01:00+02:00") == ["C2"]
    assert await since("2026-11-20T12:02:00.000Z") == []
    assert (await world.send("GET", "/api/articles/sync?updated_since=2026-11-20T14:01:00+02:00")).status == 200


async def test_a_cursor_of_another_list_company_or_filter_is_refused(world: World) -> None:
    other = await world.new_company("OTHER")
    for place in range(2):
        body = {"code": f"C{place}", "name": "x"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    cursor = (await world.call("GET", "/api/articles/sync?per_page=1")).body["next_cursor"]
    await world.call("GET", f"/api/articles/sync?cursor={cursor}")
    for path, company in (
        (f"/api/v2/stock?cursor={cursor}", world.company),
        (f"/api/articles/sync?cursor={cursor}", other),
        (f"/api/articles/sync?cursor={cursor}&updated_since=2020-01-01T00:00:00Z", world.company),
        ("/api/articles/sync?cursor=AAAA", world.company),
        (f"/api/articles/sync?cursor={cursor[:-1]}", world.company),
    ):
        refused = await world.call("GET", path, company=company, status=422)
        assert list(refused.errors) == ["cursor"]
