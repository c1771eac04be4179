"""Tests of a machine that runs out of files, threads or memory: webhooks continue automatically when the shortage
is over.
"""

import asyncio
import errno
import logging
import socket
from contextlib import aclosing
from typing import Any

import pytest

from tests.events.webhooks.hooks import Hooks
from tests.events.webhooks.patient_receivers import name_of, sending
from tests.events.webhooks.rest import is_busy
from tests.support.receivers import ANY_PORT
from tests.support.scripted_names import ScriptedNames
from tests.support.shortage import no_more_files, no_more_threads
from tests.support.world import World
from wmsd.base.problems import Problem
from wmsd.db.engine.database import Database
from wmsd.events.webhooks.sending import due_scanner
from wmsd.events.webhooks.sending import recorder as recorder_module
from wmsd.events.webhooks.sending import sender as sender_module
from wmsd.events.webhooks.sending.sender import Tasks
from wmsd.http_client.client import GuardedClient
from wmsd.http_client.dns_resolver import LookupFailed, system_lookup
from wmsd.http_client.guard import Guard
from wmsd.http_client.trusted_authorities import dialling_context

ERRORS = [
    OSError(errno.EMFILE, "Too many open files"),
    RuntimeError("can't start new thread"),
    MemoryError(),
    LookupError("a mistake in the program"),
]
ARTICLE = {"code": "NEW", "name": "New"}


def lines(caplog: pytest.LogCaptureFixture, words: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if words in record.getMessage()]


async def test_a_delivery_that_found_no_socket_goes_out_later_and_no_attempt_is_lost(
    hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    """A delivery that found no socket is sent later without another commit.

    No attempt is counted, because the receiver did not fail.
    """
    caplog.set_level(logging.INFO)
    await hooks.subscribe("article.created")
    with no_more_files():
        await hooks.world.call("POST", "/api/articles", ARTICLE, status=201, events=["article.created"])
        for _ in range(10):
            await hooks.later(1)
        assert hooks.received == []
        assert [delivery["attempts"] for delivery in await hooks.log()] == [[]]
    await hooks.later(1)
    await hooks.received_count(1)
    (delivery,) = await hooks.log()
    assert (delivery["status"], len(delivery["attempts"])) == ("delivered", 1)
    (told,) = lines(caplog, "cannot be sent; wmsd will try again soon: ")
    assert "wmsd has reached a limit of open files, threads or memory" in told
    assert "Too many open files" in told
    assert len(lines(caplog, "failures: webhooks of company 1 cannot be sent")) == 1


async def test_a_file_that_could_not_be_opened_is_looked_into_later(
    hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    await hooks.subscribe("article.created", path="/500")
    await hooks.world.call("POST", "/api/articles", ARTICLE, status=201, events=["article.created"])
    await hooks.received_count(1)
    await hooks.settled()
    await (await hooks.world.database()).close()
    with no_more_files():
        await hooks.later(31)
        for _ in range(10):
            await hooks.later(1)
    await hooks.later(1)
    await hooks.received_count(2)
    assert len(lines(caplog, "webhooks of company 1 cannot be checked")) == 1


async def test_a_test_event_says_that_the_service_is_short(hooks: Hooks) -> None:
    webhook = await hooks.subscribe("article.created")
    with no_more_files():
        answer = await hooks.world.call("POST", f"/api/v2/webhooks/{webhook}/test", status=503)
    assert answer.body["message"] == (
        "wmsd has reached a limit of open files, threads or memory, so nothing was sent. Try again shortly."
    )
    assert (await hooks.world.call("POST", f"/api/v2/webhooks/{webhook}/test")).body["status"] == "delivered"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("place", ["_see", "due_page", "record"])
async def test_whatever_goes_wrong_in_a_file_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str, error: Exception
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(recorder_module, "AGAIN_SECONDS", 0.01)
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        failures = 3

        def failing(method: Any) -> Any:
            async def called(database: Database, action: Any, *rest: Any) -> Any:
                nonlocal failures
                if failures and place in name_of(action):
                    failures -= 1
                    raise error
                return await method(database, action, *rest)

            return called

        monkeypatch.setattr(Database, "read", failing(Database.read))
        monkeypatch.setattr(Database, "write", failing(Database.write))
        await scene.articles(1, 1)
        for _ in range(4):
            await scene.at_rest()
            world.clock.advance(1)
            await scene.sender.tick()
        await scene.at_rest()
        assert (failures, len(scene.client.asked)) == (0, 1)
        assert await scene.statuses() == ["delivered"]
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(told) == 1, "once, not once for each time"
    assert len(lines(caplog, "resolved after 3 failures")) == 1


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_a_task_that_cannot_begin_leaves_nothing_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A task that cannot start leaves nothing waiting.

    Whether it was to load, send or record, everything that it had reserved is released.
    """
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        spawn, asked = Tasks.spawn, 0

        def failing(tasks: Tasks, work: Any) -> None:
            nonlocal asked
            asked += 1
            if asked % 2:
                work.close()
                raise error
            spawn(tasks, work)

        monkeypatch.setattr(Tasks, "spawn", failing)
        await scene.articles(1, 40)
        for _ in range(60):
            await asyncio.sleep(0.02)
            world.clock.advance(1)
            await scene.sender.tick()
        monkeypatch.undo()
        for _ in range(3):
            world.clock.advance(1)
            await scene.sender.tick()
            await scene.at_rest()
        assert set(scene.client.asked) == set(await scene.event_ids())
        assert set(await scene.statuses()) == {"delivered"}
        assert not is_busy(scene.sender)


@pytest.mark.parametrize("place", ["_see", "due_page"])
async def test_a_file_that_never_answers_holds_up_no_other_for_long(
    world: World, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for module in (due_scanner, sender_module):
        monkeypatch.setattr(module, "LONGEST_SECONDS", 0.05)
    async with sending(world) as scene:
        scene.client.may_answer.set()
        await scene.subscribe()
        await scene.at_rest()
        read, hung = Database.read, False

        async def hanging(database: Database, action: Any, *rest: Any) -> Any:
            nonlocal hung
            if not hung and place in name_of(action):
                hung = True
                await asyncio.Event().wait()
            return await read(database, action, *rest)

        monkeypatch.setattr(Database, "read", hanging)
        await scene.articles(1, 1)
        await scene.until(lambda: hung)
        first, world.company = world.company, await world.new_company("OTHER")
        await scene.subscribe()
        await scene.articles(1, 1)
        await scene.until(lambda: len(scene.client.asked) == 1)
        world.company = first
        world.clock.advance(1)
        await scene.sender.tick()
        await scene.until(lambda: len(scene.client.asked) == 2)


@pytest.mark.parametrize("shortage", [no_more_files, no_more_threads])
async def test_an_attempt_in_a_shortage_raises_and_the_next_one_succeeds(
    shortage: Any, receivers: Any, authority: Any
) -> None:
    """An attempt in a shortage raises an error, and the next attempt succeeds.

    An answer would blame the receiver. Nothing that was read during the shortage is cached.
    """
    guard = Guard(["127.0.0.1/32"], allow_ports=ANY_PORT)
    resolver = ScriptedNames(receiver_test=[["127.0.0.1"]]).resolver
    url = receivers.url("/200", "good", "receiver.test")
    async with aclosing(GuardedClient(guard, str(authority.ca_file), resolver=resolver)) as client:
        with shortage():
            for _ in range(3):
                with pytest.raises(Problem, match="a limit of open files, threads or memory"):
                    await client.post(url, {}, b"{}")
        assert (await client.post(url, {}, b"{}")).is_success


def test_without_files_no_name_is_taken_for_unknown() -> None:
    with pytest.raises(socket.gaierror):
        system_lookup("receiver.invalid")
    with no_more_files(), pytest.raises(LookupFailed):
        system_lookup("receiver.invalid")


def test_without_files_no_authorities_are_taken_for_read() -> None:
    with no_more_files(), pytest.raises(OSError, match="Too many open files"):
        dialling_context("")
    assert dialling_context("").cert_store_stats()["x509_ca"] > 0
