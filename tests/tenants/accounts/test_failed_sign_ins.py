"""The audit of failed sign-ins and of the addresses of tokens stays bounded, however many there are."""

import asyncio
from typing import Any

import pytest

from tests.support.steering import SteeredClock
from tests.support.world import PASSWORD, World
from wmsd.db.engine.sqlite import sqlite3
from wmsd.tenants.accounts.failed_sign_ins import MOST_USERS, OTHERS, TOLD_EVERY, FailedSignIns
from wmsd.tenants.accounts.failed_sign_ins import PASSWORD as BY_PASSWORD
from wmsd.tenants.accounts.token_addresses import MOST_ADDRESSES, network_of
from wmsd.tenants.companies import store as companies

ADMIN = "admin@example.com"


async def audited(world: World, what: str) -> list[dict[str, Any]]:
    filters = {"who": None, "what": what, "subject": None, "since": None, "until": None, "limit": 5000}
    return await world.installation.platform.read(lambda tx: companies.audit_entries(tx, **filters))


def told(found: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["subject"], each["details"]["failures"]["after"]) for each in found]


async def test_one_entry_an_hour_has_them_all(world: World) -> None:
    clock = SteeredClock()
    failed = FailedSignIns(world.installation.platform, clock)
    failed.note(BY_PASSWORD, ADMIN, "192.0.2.1")
    await failed.write_failed_sign_ins()
    for number in range(50):
        failed.note(BY_PASSWORD, ADMIN, f"192.0.2.{number}")
        clock.advance(60)
        if number < 40:
            await failed.write_failed_sign_ins()
    assert told(await audited(world, BY_PASSWORD)) == [(ADMIN, 1)]
    clock.advance(TOLD_EVERY)
    await failed.write_failed_sign_ins()
    await failed.write_failed_sign_ins()
    found = await audited(world, BY_PASSWORD)
    assert told(found) == [(ADMIN, 1), (ADMIN, 50)]
    assert found[1]["details"]["addresses"]["after"] == [f"192.0.2.{number}" for number in range(5)]
    failed.note(BY_PASSWORD, ADMIN, "192.0.2.9")
    await failed.write_last()
    assert told(await audited(world, BY_PASSWORD))[2:] == [(ADMIN, 1)]


async def test_a_failure_during_a_write_is_in_the_next_entry(world: World) -> None:
    clock = SteeredClock()
    failed = FailedSignIns(world.installation.platform, clock)
    failed.note(BY_PASSWORD, ADMIN, "192.0.2.1")
    writing = asyncio.ensure_future(failed.write_failed_sign_ins())
    await asyncio.sleep(0)
    failed.note(BY_PASSWORD, ADMIN, "192.0.2.1")
    await writing
    clock.advance(TOLD_EVERY)
    await failed.write_failed_sign_ins()
    found = await audited(world, BY_PASSWORD)
    assert told(found) == [(ADMIN, 1), (ADMIN, 1)]
    assert {each["address"] for each in found} == {"192.0.2.1"}


async def test_failures_that_could_not_be_written_are_in_the_next_entry(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("the disk is full")

    failed = FailedSignIns(world.installation.platform, SteeredClock())
    failed.note(BY_PASSWORD, ADMIN, "192.0.2.1")
    with monkeypatch.context() as full:
        full.setattr(world.installation.platform, "write", fail)
        with pytest.raises(sqlite3.OperationalError):
            await failed.write_failed_sign_ins()
    failed.note(BY_PASSWORD, ADMIN, "192.0.2.2")
    await failed.write_failed_sign_ins()
    [entry] = await audited(world, BY_PASSWORD)
    assert told([entry]) == [(ADMIN, 2)]
    assert entry["details"]["addresses"]["after"] == ["192.0.2.1", "192.0.2.2"]


async def test_many_users_are_told_together(world: World) -> None:
    failed = FailedSignIns(world.installation.platform, SteeredClock())
    for number in range(MOST_USERS + 500):
        failed.note(BY_PASSWORD, f"user{number}@example.com", "192.0.2.1")
    await failed.write_failed_sign_ins()
    found = told(await audited(world, BY_PASSWORD))
    assert len(found) == MOST_USERS + 1
    assert found[-1] == (OTHERS, 500)


async def test_those_of_nobody_are_not_told(world: World) -> None:
    for email, password in ((ADMIN.upper(), "wrong"), ("nobody@example.com", "wrong"), (ADMIN, PASSWORD)):
        body = {"email": email, "password": password, "abilities": ["*"]}
        await world.send("POST", "/api/auth/token", body, token="", company="")
    await world.installation.failed_sign_ins.write_failed_sign_ins()
    assert told(await audited(world, BY_PASSWORD)) == [(ADMIN, 1)]


async def test_a_token_is_told_of_at_each_new_network_up_to_a_bound(world: World) -> None:
    token, access = await world.new_token(ADMIN), world.installation.access
    before = len(await audited(world, "token.use"))

    async def used_from(address: str) -> int:
        await access.caller(token, address)
        await access.write_token_uses()
        return len(await audited(world, "token.use")) - before

    assert [await used_from(each) for each in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1")] == [1, 1, 2, 2]
    assert await used_from("2001:db8::1") == 3
    assert await used_from("192.0.2.1") == 3
    assert await used_from("2001:db8::ffff:2") == 3, "of the same network"
    last = (await audited(world, "token.use"))[-1]
    assert (last["actor"], last["address"]) == (ADMIN, "2001:db8::1")
    for number in range(3 * MOST_ADDRESSES):
        await used_from(f"198.51.100.{number}")
    assert await used_from("203.0.113.1") == MOST_ADDRESSES


async def test_programs_that_sign_in_again_and_again_are_not_told_of(world: World) -> None:
    before = len(await audited(world, "token.use"))
    for _ in range(3):
        body = {"email": ADMIN, "password": PASSWORD, "abilities": ["*"]}
        answer = await world.send("POST", "/api/auth/token", body, token="", company="")
        await world.installation.access.caller(answer.body["token"], "192.0.2.1")
        await world.installation.access.write_token_uses()
    assert len(await audited(world, "token.use")) == before


def test_what_is_no_address_stays() -> None:
    assert [network_of(each) for each in ("192.0.2.1", "unix:", "")] == ["192.0.2.1", "unix:", ""]
    assert network_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
