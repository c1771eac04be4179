"""Article sync: the walk returns every change, whatever happens during the walk and whatever the clock does."""

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

MANY = 1_100


class SyncMachine(RuleBasedStateMachine):
    """A test in which an integrator walks the articles while users change articles and the wall clock jumps.

    The laws: after a complete walk, the integrator's copy holds every article in its state at the start of the
    walk, or in a later state. A walk since a time returns no article whose `updated_at` is at or before that time.
    A walk that continues from the end of the previous walk, without a change in between, is empty.
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
        self.before: str | None = None
        self.since: str | None = None
        self.largest: str | None = None
        self.end: str | None = None
        self.per_page = 2
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

    @precondition(lambda self: len(self.truth) < MANY)
    @rule()
    def more_are_imported_than_a_millisecond_has_places(self) -> None:
        self.count += 1
        codes = [f"I{self.count}-{number}" for number in range(MANY)]
        rows = "".join(f"{code},new\n" for code in codes)
        self.run(self.world.import_csv("articles", f"code,name\n{rows}"))
        first = max(self.truth, default=0) + 1
        self.truth |= dict.fromkeys(range(first, first + MANY), "new")

    @precondition(lambda self: not self.walking)
    @rule(per_page=st.sampled_from([2, 499]), by_cursor=st.booleans())
    def a_walk_begins(self, per_page: int, by_cursor: bool) -> None:
        """Start a walk since the latest time that was returned, or from the end of the previous walk."""
        self.walking, self.per_page = True, per_page if len(self.truth) < MANY else 499
        self.cursor = self.end if by_cursor else None
        self.since = None if self.cursor else self.largest
        self.before = self.largest
        self.owed = dict(self.truth)
        self.step()

    @precondition(lambda self: self.walking)
    @rule()
    def the_walk_goes_on(self) -> None:
        self.step()

    @precondition(lambda self: self.walking)
    @rule()
    def the_walk_is_finished(self) -> None:
        while self.walking:
            self.step()

    @precondition(lambda self: self.walking)
    @rule()
    def the_walk_is_given_up(self) -> None:
        """Crash the integrator, which forgets the unfinished walk."""
        self.walking = False
        self.largest = self.before

    def step(self) -> None:
        query = f"per_page={self.per_page}"
        query += f"&updated_since={quote(self.since)}" if self.since and not self.cursor else ""
        query += f"&cursor={self.cursor}" if self.cursor else ""
        body = self.run(self.world.call("GET", f"/api/articles/sync?{query}")).body
        for article in body["data"]:
            self.copy[article["id"]] = article["name"]
            self.largest = max(self.largest or "", article["updated_at"])
            assert (self.since or "") < article["updated_at"] <= body["as_of"]
        self.cursor = body["next_cursor"]
        self.walking = self.cursor is not None
        if not self.walking:
            self.nothing_was_skipped()
            self.what_has_ended_goes_on_empty(body["end_cursor"])

    def what_has_ended_goes_on_empty(self, cursor: str) -> None:
        again = self.run(self.world.call("GET", f"/api/articles/sync?cursor={cursor}")).body
        assert (again["data"], again["next_cursor"], again["end_cursor"]) == ([], None, cursor)
        self.end = cursor

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


async def test_what_was_imported_together_is_met_once(world: World) -> None:
    """Articles of one import are returned once. A later change in the same millisecond of the clock is returned
    too.
    """
    rows = "".join(f"C{number},old\n" for number in range(MANY))
    await world.import_csv("articles", f"code,name\n{rows}")

    async def changed_since(moment: str) -> list[dict[str, Any]]:
        path = f"/api/articles/sync?per_page=500&updated_since={moment}"
        page = (await world.call("GET", path)).body
        assert page["next_cursor"] is None
        return list(page["data"])

    last = (await world.call("GET", f"/api/articles/{MANY}")).body["updated_at"]
    assert await changed_since(last) == []
    before = (await world.call("GET", f"/api/articles/{MANY - 400}")).body["updated_at"]
    assert {article["updated_at"] > before for article in await changed_since(before)} == {True}
    await world.call("PATCH", "/api/articles/7", {"name": "new"}, events=["article.updated"])
    assert [article["name"] for article in await changed_since(last)] == ["new"]


async def test_a_clock_that_was_wrong_for_a_while_dates_nothing_wrongly(world: World) -> None:
    """Only `updated_at` stays ahead of the corrected clock, so that a later change has a later time."""
    world.clock.advance(10 * 365 * 86_400)
    world.token = await world.new_token("admin@example.com")
    await world.import_csv("articles", "code,name\nA,Apple\n")
    world.clock.set_back(10 * 365 * 86_400)
    world.token = await world.new_token("admin@example.com")
    await world.import_csv("articles", "code,name\nB,Bread\n")
    await world.call("POST", "/api/articles", {"code": "C", "name": "C"}, status=201, events=["article.created"])
    _, bread, third = (await world.call("GET", "/api/articles")).body["data"]
    assert bread["created_at"] == third["created_at"] == "2026-11-20T12:00:00.000Z"
    assert "2036" < bread["updated_at"] < third["updated_at"]


async def test_the_end_of_a_walk_is_a_place_to_go_on_from(world: World) -> None:
    assert (await world.call("GET", "/api/articles/sync")).body["data"] == []
    end = (await world.call("GET", "/api/articles/sync")).body["end_cursor"]
    for place in range(3):
        body = {"code": f"C{place}", "name": "x"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    page = (await world.call("GET", f"/api/articles/sync?per_page=2&cursor={end}")).body
    assert [article["code"] for article in page["data"]] == ["C0", "C1"]
    assert page["end_cursor"] == page["next_cursor"]
    page = (await world.call("GET", f"/api/articles/sync?per_page=2&cursor={page['end_cursor']}")).body
    assert ([article["code"] for article in page["data"]], page["next_cursor"]) == (["C2"], None)
    await world.call("PATCH", "/api/articles/1", {"name": "y"}, events=["article.updated"])
    page = (await world.call("GET", f"/api/articles/sync?cursor={page['end_cursor']}")).body
    assert [article["name"] for article in page["data"]] == ["y"]


async def test_a_walk_goes_on_without_the_moment_that_it_began_at(world: World) -> None:
    for place in range(3):
        body = {"code": f"C{place}", "name": "x"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    first = (await world.call("GET", "/api/articles/sync?per_page=2&updated_since=2020-01-01T00:00:00Z")).body
    for since in ("", "&updated_since=2020-01-01T00:00:00Z"):
        page = (await world.call("GET", f"/api/articles/sync?cursor={first['next_cursor']}{since}")).body
        assert [article["code"] for article in page["data"]] == ["C2"]


async def test_a_walk_goes_on_with_no_other_moment_than_it_began_with(world: World) -> None:
    """A later time would skip the changes in between; an earlier time would have no effect."""
    for place in range(4):
        body = {"code": f"C{place}", "name": "x"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
        world.clock.advance(60)
    path, began = "/api/articles/sync?per_page=1", "updated_since=2026-11-20T12:00:00Z"
    others = ("2026-11-20T12:00:00.001Z", "2026-11-20T12:02:00Z", "2020-01-01T00:00:00Z")
    cursor = (await world.call("GET", f"{path}&{began}")).body["next_cursor"]
    without = (await world.call("GET", path)).body["next_cursor"]
    end = (await world.call("GET", f"/api/articles/sync?cursor={cursor}")).body["end_cursor"]
    for other in others:
        for each in (cursor, without, end):
            answer = await world.call("GET", f"{path}&updated_since={other}&cursor={each}", status=422)
            assert answer.errors["updated_since"][0].startswith(
                "must be the same as in the first request of this cursor"
            )
    for same in ("", f"&{began}", "&updated_since=2026-11-20T14:00:00%2B02:00"):
        page = (await world.call("GET", f"{path}&cursor={cursor}{same}")).body
        assert [article["code"] for article in page["data"]] == ["C2"]
    of_an_older_version = world.installation.dispatcher._signer.sign(1, world.company, "sync_articles", {})
    page = (await world.call("GET", f"{path}&updated_since={others[1]}&cursor={of_an_older_version}")).body
    assert [article["code"] for article in page["data"]] == ["C0"]


async def test_a_cursor_of_another_list_or_company_is_refused(world: World) -> None:
    other = await world.new_company("OTHER")
    for place in range(2):
        body = {"code": f"C{place}", "name": "x"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    cursor = (await world.call("GET", "/api/articles/sync?per_page=1")).body["next_cursor"]
    await world.call("GET", f"/api/articles/sync?cursor={cursor}")
    for path, company in (
        (f"/api/v2/stock?cursor={cursor}", world.company),
        (f"/api/articles/sync?cursor={cursor}", other),
        ("/api/articles/sync?cursor=AAAA", world.company),
        (f"/api/articles/sync?cursor={cursor[:-1]}", world.company),
    ):
        refused = await world.call("GET", path, company=company, status=422)
        assert list(refused.errors) == ["cursor"]
