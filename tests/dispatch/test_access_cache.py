"""Tests of the access data in memory: a change that is made during a look-up is not missed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.planner import new_site
from tests.support.shop import open_shop
from tests.support.world import ETSM, KERNEL, PASSWORD, UNLIMITED, World, open_world
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch import access_cache
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys import key_store

LIST = "/api/articles"
TURNS = 8
"""More turns of the event loop than any look-up takes. The change is made after each turn."""


@dataclass(frozen=True)
class Case:
    """A look-up and a change after which the request is refused."""

    look_up: Callable[[World], Awaitable[object]]
    change: str
    path: str
    status: int = 401


def caller(world: World) -> Awaitable[object]:
    return world.installation.access.caller(world.token, "127.0.0.1")


CASES = {
    "a token": Case(caller, "UPDATE tokens SET revoked_at = '2026'", LIST),
    "a user": Case(caller, "UPDATE users SET disabled_at = '2026'", LIST),
    "the signing keys": Case(caller, "DELETE FROM signing_keys", LIST),
    "a module": Case(
        lambda world: world.installation.access.company(world.company),
        "DELETE FROM company_modules WHERE module = 'articles'",
        LIST,
        403,
    ),
    "a platform token": Case(
        lambda world: world.installation.access.kernel(world.kernel_token),
        "UPDATE kernel_tokens SET revoked_at = '2026'",
        f"{KERNEL}stats",
    ),
    "a site": Case(
        lambda world: world.installation.access.site_caller(world.token),
        "UPDATE sites SET token_hash = NULL",
        f"{ETSM}/openapi.json",
    ),
}


@pytest.fixture
async def manned(world: World) -> World:
    """Return an installation with a token for every kind of caller."""
    await world.open_kernel()
    await open_shop(world)
    return world


def change_elsewhere(world: World, sql: str) -> None:
    """Change the platform's file as the command line does."""
    other = connect(world.installation.folder.platform_file)
    other.execute(sql)
    other.close()


def changed_by_another(world: World, sql: str) -> None:
    """Change the platform's file as the command line does, and let the server notice it as its job does."""
    change_elsewhere(world, sql)
    world.installation.access.forget()


@pytest.mark.parametrize("turns", range(TURNS))
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_what_changes_during_a_look_up_is_not_remembered_as_it_was(
    manned: World, case: Case, turns: int
) -> None:
    world = manned
    if case.path.startswith(ETSM):
        world.token = await new_site(world, "MAIN", 1)
    looking = asyncio.ensure_future(case.look_up(world))
    for _ in range(turns):
        await asyncio.sleep(0)
    changed_by_another(world, case.change)
    await asyncio.gather(looking, return_exceptions=True)
    assert (await world.send("GET", case.path)).status == case.status


WRONG = "The token is missing, invalid, revoked or expired."


@pytest.mark.parametrize(
    ("path", "what"),
    [(LIST, "a token"), (f"{KERNEL}stats", "the platform token"), (f"{ETSM}/openapi.json", "the token of a site")],
)
async def test_who_sends_no_token_is_told_which_and_how(world: World, path: str, what: str) -> None:
    none = await world.send("GET", path, headers={"Authorization": ""}, token="")
    needs = f"This request needs {what}: send Authorization: Bearer <token>."
    assert (none.status, none.body["message"]) == (401, needs)
    wrong = await world.send("GET", path, token="wrong")
    assert (wrong.status, wrong.body["message"]) == (401, WRONG)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_what_is_known_is_not_read_again(manned: World, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """Access data in memory is not read again until it has changed. Then it is read once more."""
    if case.path.startswith(ETSM):
        manned.token = await new_site(manned, "MAIN", 1)
    platform, reads = manned.installation.platform, 0
    read = platform.read

    def counted(*arguments: Any) -> Awaitable[object]:
        nonlocal reads
        reads += 1
        return read(*arguments)

    monkeypatch.setattr(platform, "read", counted)
    for _ in range(3):
        await case.look_up(manned)
    first = reads
    assert first > 0
    manned.installation.access.forget()
    for _ in range(3):
        await case.look_up(manned)
    assert reads == 2 * first
    await manned.installation.access.forget_if_changed()
    seen = reads
    await manned.installation.access.forget_if_changed()
    await case.look_up(manned)
    assert reads == seen + 1 + first, "it had never looked before, so it forgot"
    await manned.installation.access.forget_if_changed()
    await case.look_up(manned)
    assert reads == seen + 2 + first


async def test_a_second_token_is_looked_up_by_the_keys_that_are_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [await world.new_token("admin@example.com") for _ in range(2)]
    read, reads = key_store.signing_keys, 0

    def counted(tx: Transaction) -> list[tuple[str, str]]:
        nonlocal reads
        reads += 1
        return read(tx)

    monkeypatch.setattr(key_store, "signing_keys", counted)
    for token in tokens:
        await world.installation.access.caller(token, "127.0.0.1")
    assert reads == 1


async def test_a_list_of_all_companies_is_read_once(world: World) -> None:
    access = world.installation.access
    assert await access.companies() is await access.companies()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_a_change_by_another_process_is_in_force_after_the_next_look(manned: World, case: Case) -> None:
    if case.path.startswith(ETSM):
        manned.token = await new_site(manned, "MAIN", 1)
    await manned.installation.access.forget_if_changed()
    await case.look_up(manned)
    change_elsewhere(manned, case.change)
    await manned.installation.access.forget_if_changed()
    assert (await manned.send("GET", case.path)).status == case.status


async def test_bookkeeping_makes_nothing_be_read_again(world: World) -> None:
    access = world.installation.access
    await access.forget_if_changed()
    await world.new_user("new@example.com", "member", ["ACME"], ["articles:read"])
    await access.forget_if_changed()
    await world.send("GET", LIST)
    known = await access.companies()
    await access.write_token_uses()
    await world.installation.requests.write()
    await world.jobs.clock_watch.keep()
    sign_in = {"email": "new@example.com", "password": PASSWORD, "abilities": ["articles:read"]}
    answer = await world.send("POST", "/api/auth/token", sign_in, token="", company="")
    assert answer.status == 200, answer.raw
    change_elsewhere(world, "UPDATE tokens SET last_used_at = '2026'")
    assert await access.forget_if_changed(), "the file has changed"
    assert await access.companies() is known


BOOKKEEPING = {
    *("access_version", "audit", "clock", "high_water_marks", "installation", "log", "request_counts", "secrets"),
    *("sign_in_addresses", "sign_on_identities", "recovery_codes", "invitations", "company_figures"),
    *(
        "user_languages",
        "user_time_zones",
        "recovery_phrases",
        "recovery_phrase_declined",
        "recoveries",
        "recovery_entries",
    ),
}
"""Tables of the platform that do not decide what anybody may do."""


async def test_the_version_follows_every_table_that_decides_who_may_do_what(world: World) -> None:
    def triggers(tx: Transaction) -> dict[str, set[str]]:
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        made = "SELECT sql FROM sqlite_schema WHERE name LIKE 'access_version_%' AND tbl_name = ?"
        return {
            name: {sql.split()[sql.split().index("AFTER") + 1] for (sql,) in tx.rows(made, (name,))}
            for (name,) in tx.rows(tables)
        }

    found = await world.installation.platform.read(triggers)
    assert set(found) >= BOOKKEEPING
    deciding = {name: events for name, events in found.items() if name not in BOOKKEEPING}
    assert deciding.pop("sessions") == {"UPDATE", "DELETE"}, "a new one is in no memory"
    assert deciding.pop("second_factors") == {"UPDATE", "DELETE"}, "a new one does not count yet"
    assert deciding.pop("company_deletions") == {"INSERT", "DELETE"}, "that one has ended changes nothing more"
    assert deciding.pop("tokens") == {"UPDATE", "DELETE"}, "a new token is in no memory"
    assert all(events == {"INSERT", "UPDATE", "DELETE"} for events in deciding.values()), deciding


async def test_all_who_ask_at_once_cause_one_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    access, platform, reads = world.installation.access, world.installation.platform, 0
    read = platform.read

    def counted(*arguments: Any) -> Awaitable[object]:
        nonlocal reads
        reads += 1
        return read(*arguments)

    access.forget()
    monkeypatch.setattr(platform, "read", counted)
    found = await asyncio.gather(*(access.company(world.company) for _ in range(100)))
    assert (reads, {each.code for each in found if each is not None}) == (1, {"ACME"})


async def test_a_read_that_fails_fails_for_those_who_wait_and_for_nobody_after(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = world.installation.access
    access.forget()
    with monkeypatch.context() as patch:
        patch.setattr(companies, "companies", failing)
        asked = [asyncio.ensure_future(access.company(world.company)) for _ in range(3)]
        await asyncio.sleep(0)
        asked[0].cancel()
        found = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(each) for each in found] == [asyncio.CancelledError, MemoryError, MemoryError]
    company = await access.company(world.company)
    assert company is not None


def failing(_: Transaction) -> None:
    raise MemoryError


async def test_a_look_tells_whether_another_process_has_written(world: World) -> None:
    access = world.installation.access
    assert await access.forget_if_changed()
    assert not await access.forget_if_changed()
    changed_by_another(world, "UPDATE users SET name = 'Changed'")
    assert await access.forget_if_changed()
    assert not await access.forget_if_changed()


async def test_a_token_that_was_swept_is_refused(world: World) -> None:
    changed_by_another(world, "DELETE FROM tokens")
    assert (await world.send("GET", LIST)).status == 401


async def test_everybody_is_known_after_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        await world.open_kernel()
        await open_shop(world)
        tokens = {
            LIST: world.token,
            f"{KERNEL}stats": world.kernel_token,
            f"{ETSM}/openapi.json": await new_site(world, "MAIN", 1),
        }
    for path, token in tokens.items():
        async with open_world(tmp_path / "data", UNLIMITED) as world:
            assert (await world.send("GET", path, token=token, company=1)).status == 200


async def test_it_remembers_so_many_tokens_and_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_cache, "MOST_TOKENS", 3)
    access, entries = world.installation.access, []
    for _ in range(5):
        # a new token makes the cache forget everything
        await access.caller(await world.new_token("admin@example.com"), "127.0.0.1")
    tokens = [await world.new_token("admin@example.com") for _ in range(5)]
    for token in tokens:
        await access.caller(token, "127.0.0.1")
        entries.append(access.entries)
    assert entries == [1, 2, 3, 1, 2]
