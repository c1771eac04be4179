"""The latest requests of a company: what is stored, who may see it, and what survives restarts, crashes and full
disks.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.request_history.keeping import id_of, kept, statuses, whole
from tests.support.dock import Dock
from tests.support.log_lines import keeping
from tests.support.planner import new_site
from tests.support.small_disk import fill
from tests.support.world import ETSM, UNLIMITED, Answer, World, open_world
from wmsd.request_history import lines as entries
from wmsd.request_history.history import READS_A_SECOND

FULL = "requests are stored in memory only"


@asynccontextmanager
async def opened_again(folder: Path, token: str, settings: dict[str, Any] = UNLIMITED) -> AsyncIterator[World]:
    async with open_world(folder, settings) as world:
        world.company, world.token = 1, token
        yield world


def written_now(world: World, _: Answer) -> None:
    """Write the waiting entries, and date their files by the clock of the test world."""
    world.installation.history.write_waiting()
    for path in world.installation.folder.requests.rglob("*.jsonl"):
        os.utime(path, (world.clock.wall.timestamp(),) * 2)


def with_settings(**requests: Any) -> dict[str, Any]:
    return {**UNLIMITED, "requests": requests}


async def test_of_many_reads_some_are_kept_and_of_all_else_each(world: World) -> None:
    for _ in range(2 * READS_A_SECOND):
        await world.send("GET", "/api/articles")
        await world.send("GET", "/api/articles?page=x")
        await world.send("POST", "/api/articles", {"code": "A"})
    found = statuses(world)
    assert found.count(200) == READS_A_SECOND
    assert found.count(422) == 4 * READS_A_SECOND
    world.clock.advance(1)
    await world.send("GET", "/api/articles")
    assert statuses(world).count(200) == READS_A_SECOND + 1


async def test_everything_of_a_request_is_kept_but_its_secrets(world: World) -> None:
    answer = await world.send(
        "POST", "/api/articles?x=1", {"code": "A"}, headers={"Idempotency-Key": "k", "User-Agent": "Shop/1"}
    )
    found = whole(world, answer)
    assert {name: found[name] for name in ("method", "path", "status", "operation", "code", "user_id")} == {
        "method": "POST",
        "path": "/api/articles?x=1",
        "status": 422,
        "operation": "create_article",
        "code": "VALIDATION_FAILED",
        "user_id": 1,
    }
    assert (found["who"], found["token_id"], found["address"]) == ("admin@example.com (test)", 1, "127.0.0.1")
    assert found["at"] == "2026-11-20T12:00:00.000Z"
    assert found["milliseconds"] > 0
    assert found["headers"]["Idempotency-Key"] == "k"
    assert found["headers"]["User-Agent"] == "Shop/1"
    assert "Authorization" not in found["headers"]
    assert (found["body"], found["body_bytes"]) == ('{"code": "A"}', 13)
    assert (found["answer"], found["answer_bytes"]) == (answer.raw.decode(), len(answer.raw))
    assert found["why"] == "2 fields are not valid: x is an unknown field; name is required."


async def test_a_long_body_and_a_long_answer_are_kept_in_part(world: World) -> None:
    await world.call("POST", "/api/articles", {"code": "A", "name": "a"}, status=201, events=["article.created"])
    long = await world.send("POST", "/api/articles", {"code": "B", "description": "x" * 30_000})
    found = whole(world, long)
    assert (len(found["body"]), found["body_bytes"] > 30_000) == (8 * 1024, True)
    lots = [{"method": "GET", "path": "/api/v2/articles"}] * 50
    batch = whole(world, await world.send("POST", "/api/v2/batch", {"requests": lots}))
    assert (len(batch["answer"]), batch["answer_bytes"] > 10_000) == (2 * 1024, True)


async def test_parts_of_batches_and_documents_are_summarised(world: World) -> None:
    requests = [{"method": "GET", "path": "/api/v2/articles"}, {"method": "GET", "path": "/api/v2/stock/99?x=1"}]
    batch = whole(world, await world.send("POST", "/api/v2/batch", {"requests": requests}))
    assert [(part["name"], part["status"], part["code"]) for part in batch["parts"]] == [
        ("GET /api/v2/articles", 200, ""),
        ("GET /api/v2/stock/99?x=1", 404, "NOT_FOUND"),
    ]
    assert (batch["status"], batch["code"]) == (200, "NOT_FOUND")
    query = "{ a: article(id: 98) { id } b: article(id: 99) { id } articles { nodes { id } } }"
    document = whole(world, await world.send("POST", "/api/graphql", {"query": query}))
    assert [(part["name"], part["code"]) for part in document["parts"]] == [("a", "NOT_FOUND"), ("b", "NOT_FOUND")]
    assert document["why"] == "a: There is no such article. 1 more of its parts was refused too."


async def test_a_document_that_is_not_run_says_why(world: World) -> None:
    for accept in ("application/json", "application/graphql-response+json"):
        answer = await world.send("POST", "/api/graphql", {"query": "{ nothing }"}, headers={"Accept": accept})
        assert "Cannot query field 'nothing'" in whole(world, answer)["why"]


async def test_problem_details_say_why_too(world: World) -> None:
    answer = await world.send("GET", "/api/articles/9", headers={"Accept": "application/problem+json"})
    assert whole(world, answer)["why"] == "There is no such article."


async def test_a_strangers_call_is_laid_at_nobodys_door(world: World) -> None:
    other = await world.new_company("OTHER")
    await world.new_user("ana@example.com", "member", ["ACME"], ["articles:read"])
    token = await world.new_token("ana@example.com", ["articles:read"])
    await world.send("GET", "/api/articles", token="wrong")
    await world.send("GET", "/api/articles", token="")
    await world.send("GET", "/api/articles", token=token, company=other)
    await world.send("GET", "/api/articles", token=token, company="")
    await world.send("GET", "/api/articles", token=token, company=99)
    await world.send("GET", "/api/nothing", token=token)
    assert (statuses(world), statuses(world, other)) == ([], [])


async def test_a_refusal_of_somebody_who_may_use_the_company_is_kept(world: World) -> None:
    await world.new_user("ana@example.com", "member", ["ACME"], ["articles:read"])
    token = await world.new_token("ana@example.com", ["articles:read"])
    lacking = await world.send("GET", "/api/stock", token=token)
    await world.set_module("ACME", "stock", False)
    off = await world.send("GET", "/api/stock")
    operator = await world.send("GET", "/api/articles", headers={"X-Three-Pl-Id": "7"})
    assert whole(world, lacking)["why"] == "The token lacks the ability stock:read, which this operation needs."
    assert whole(world, off)["why"] == "The module stock was off for the company."
    assert whole(world, operator)["why"] == (
        "X-Three-Pl-Id is not the id of this company's operator. Correct the id, or leave the header out."
    )
    assert [entry.shown["user_id"] for entry in kept(world)] == [1, 1, 2]


async def test_the_calls_of_a_site_are_its_companys(dock: Dock) -> None:
    token = await new_site(dock.world, "MAIN", 1)
    answer = await dock.world.send("GET", f"{ETSM}/orders", token=token, company="")
    found = whole(dock.world, answer)
    assert (found["user_id"], found["token_id"], found["status"]) == (None, None, 200)


async def test_pages_are_not_listed_only_programs(world: World) -> None:
    from tests.interfaces.pages.records.test_browse import signed_in

    visitor = await signed_in(world)
    assert (await visitor.get("/companies/1/articles")).status == 200
    assert kept(world) == []


async def test_a_flood_that_the_limit_refuses_pushes_out_nothing_else(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 1}}) as world:
        await world.send("GET", "/api/articles")
        for _ in range(200):
            await world.send("GET", "/api/articles")
        world.clock.advance(1)
        await world.send("GET", "/api/articles")
        assert statuses(world) == [200, 429, 429]
        assert json.loads(kept(world)[0].rest)["left_out"] == 199
        assert (
            kept(world)[0].shown["why"] == "The limit of 1 requests a minute was reached; the next request "
            "was possible 59 s later."
        )


async def test_a_restart_forgets_nothing_and_reads_nothing_before_it_is_asked(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        await world.send("GET", "/api/articles")
        await world.send("GET", "/api/articles/9")
        token = world.token
    async with opened_again(tmp_path / "data", token) as world:
        assert world.installation.history._segments._sizes is None
        await world.send("GET", "/api/clients")
        assert statuses(world) == [200, 404, 200]
        places = [entry.sequence for entry in kept(world)]
        assert places == sorted(places, reverse=True)


async def test_what_a_crash_cut_off_is_passed_over(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        await world.send("GET", "/api/articles")
        await world.send("GET", "/api/articles/9")
        token = world.token
    (file,) = (tmp_path / "data" / "requests").rglob("*.jsonl")
    whole_file = file.read_bytes()
    for cut in (1, 2, 100, len(whole_file.split(b"\n")[1]) - 5):
        file.write_bytes(whole_file[:-cut])
        async with opened_again(tmp_path / "data", token) as world:
            before = [200, 404] if cut == 1 else [200]
            assert statuses(world) == before
            await world.send("GET", "/api/clients")
            assert statuses(world) == [*before, 200]
        async with opened_again(tmp_path / "data", token) as world:
            assert statuses(world) == [*before, 200]
        file.write_bytes(whole_file)


async def test_a_clock_that_is_set_back_mixes_nothing_up(world: World) -> None:
    await world.send("GET", "/api/articles")
    world.clock.set_back(86_400)
    await world.send("GET", "/api/articles/9")
    world.installation.history.write_waiting()
    assert statuses(world) == [200, 404]
    assert kept(world)[0].shown["at"] == "2026-11-19T12:00:00.000Z"


async def test_nothing_is_kept_when_it_is_switched_off(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        await world.send("GET", "/api/articles")
        token = world.token
    folder = tmp_path / "data" / "requests"
    async with opened_again(tmp_path / "data", token, with_settings(keep=False)) as world:
        await world.send("GET", "/api/articles")
        assert len(kept(world)) == 1
        await world.jobs.forget_old_requests()
    assert list(folder.rglob("*.jsonl")) == []


async def test_nothing_old_is_deleted_while_the_clock_cannot_be_trusted(world: World) -> None:
    await world.jobs.clock_watch.start()
    written_now(world, await world.send("GET", "/api/articles"))
    world.clock.set_forward(86_400 * 400)
    await world.jobs.clock_watch.tick()
    await world.jobs.forget_old_requests()
    assert list(world.installation.folder.requests.rglob("*.jsonl"))


async def test_what_is_older_than_the_settings_say_is_deleted(world: World) -> None:
    written_now(world, await world.send("GET", "/api/articles"))
    world.clock.advance(86_400 * 6)
    await world.jobs.forget_old_requests()
    assert list(world.installation.folder.requests.rglob("*.jsonl"))
    world.clock.advance(86_400 * 2)
    await world.jobs.forget_old_requests()
    assert not list(world.installation.folder.requests.rglob("*.jsonl"))


async def test_a_full_disk_costs_the_history_only_and_is_told_once(small_disk: Path) -> None:
    async with open_world(small_disk / "data", UNLIMITED) as world:
        await world.send("GET", "/api/articles")
        world.installation.history.write_waiting()
        other = fill(small_disk, 20 * 1024 * 1024)
        with keeping() as log:
            for _ in range(4):
                assert (await world.send("GET", "/api/articles")).status == 200
                world.installation.history.write_waiting()
        assert len([line for line in log.lines if FULL in line]) == 1
        assert statuses(world) == [200] * 5, "the last ones are in memory"
        other.unlink()
        await world.send("GET", "/api/articles/9")
        world.installation.history.write_waiting()
        lines = b"".join(path.read_bytes() for path in world.installation.folder.requests.rglob("*.jsonl"))
        assert lines.count(b"\n") == 2


async def test_what_waits_for_a_slow_disk_is_bounded(world: World) -> None:
    own = world.installation.history
    own._batches.most = 10
    with own._lock:  # simulates a write that takes long
        for _ in range(25):
            assert (await world.send("GET", "/api/articles?page=x")).status == 422
    with keeping() as log:
        await asyncio.to_thread(own.write_waiting)
        for _ in range(500):
            if log.lines:
                break
            await asyncio.sleep(0.01)
    assert len(kept(world)) == 10
    (line,) = log.lines
    assert "requests arrive faster than wmsd can store them: not stored: 15" in line


async def test_they_are_written_soon_by_themselves(world: World) -> None:
    await world.send("GET", "/api/articles")
    for _ in range(500):
        if list(world.installation.folder.requests.rglob("*.jsonl")):
            break
        await asyncio.sleep(0.01)
    assert len(list(world.installation.folder.requests.rglob("*.jsonl"))) == 1


async def test_companies_do_not_see_each_others(world: World) -> None:
    other = await world.new_company("OTHER")
    first = await world.send("GET", "/api/articles")
    second = await world.send("GET", "/api/articles", company=other)
    assert [entry.shown["id"] for entry in kept(world)] == [id_of(first)]
    assert [entry.shown["id"] for entry in kept(world, other)] == [id_of(second)]


async def test_a_mistake_of_ours_ends_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, keeping() as log:
        patch.setattr(entries, "line_of", lambda *_: 1 / 0)
        assert (await world.send("GET", "/api/articles")).status == 200
        await asyncio.to_thread(world.installation.history.write_waiting)
    assert any("a request cannot be stored: division by zero" in line for line in log.lines)
    await world.send("GET", "/api/articles")
    assert statuses(world) == [200]
