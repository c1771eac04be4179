"""The event stream of the pages: it reports changes of the user's own companies, and nothing about others."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientResponse

from tests.interfaces.pages.records.test_browse import EMAIL, signed_in
from tests.interfaces.pages.visitor import Visitor, cookie_of, with_secret
from tests.support.shop import Shop
from tests.support.world import PASSWORD, open_world
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.limits.work_admission import BOUNDS
from wmsd.interfaces.http.connections import Connections
from wmsd.tenants.accounts import sessions
from wmsd.tenants.accounts import store as accounts
from wmsd.tenants.accounts.actions import disable_user

LONGEST = 30.0


class Stream:
    def __init__(self, response: ClientResponse) -> None:
        self._response = response

    async def next(self) -> tuple[str, Any]:
        """Return the next event and its data; the name is empty at the end."""
        name = ""
        async with asyncio.timeout(LONGEST):
            while line := (await self._response.content.readline()).decode():
                field, _, value = line.rstrip().partition(": ")
                if field == "event":
                    name = value
                elif field.startswith("data"):
                    return name or "message", json.loads(value or "null")
        return "", None

    async def next_change(self) -> list[int]:
        while True:
            name, data = await self.next()
            assert name == "message"
            if data["companies"]:
                return list(data["companies"])


@asynccontextmanager
async def streaming(visitor: Visitor) -> AsyncIterator[Stream]:
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    address = f"{visitor.world.base_url}/live"
    async with visitor.world.session.get(address, headers={"Cookie": cookie}) as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        stream = Stream(response)
        assert await stream.next() == ("message", {"companies": [], "many": False})
        yield stream


async def test_a_change_is_told_once_a_job_has_looked(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    async with streaming(visitor) as stream:
        await shop.order()
        await shop.world.jobs.keep_today()
        assert await stream.next_change() == [int(shop.world.company)]
        assert "orders late" in (await visitor.get("/today")).text


async def test_changes_of_a_company_that_somebody_may_not_use_are_not_told(shop: Shop) -> None:
    world = shop.world
    other = await world.new_company("OTHER")
    visitor = await signed_in(world, "OTHER", abilities=["stock:read"])
    async with streaming(visitor) as stream:
        await shop.order()
        await world.jobs.keep_today()
        await world.installation.files.visit(int(other), _touch)
        await world.jobs.keep_today()
        assert await stream.next_change() == [int(other)]


async def _touch(database: Database) -> None:
    await database.write(lambda tx: tx.execute("UPDATE articles SET active = active"))


async def test_who_is_not_signed_in_is_told_to_stop(shop: Shop) -> None:
    assert (await Visitor(shop.world).get("/live")).status == 204
    assert (await with_secret(shop.world, "stolen").get("/live")).status == 204


async def test_the_stream_ends_with_the_session(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    elsewhere = Visitor(shop.world, dict(visitor.cookies))
    async with streaming(visitor) as stream:
        token = (await elsewhere.get("/account")).form_token
        await elsewhere.post("/sign-out", {"form_token": token})
        await shop.order()
        await shop.world.jobs.keep_today()
        assert await stream.next() == ("over", None)
        assert await stream.next() == ("", None)


async def test_a_stream_gives_way_where_connections_are_scarce(shop: Shop) -> None:
    """A stream only waits, and a browser reopens it automatically."""
    visitor = await signed_in(shop.world)
    async with streaming(visitor) as stream:
        for found in gc.get_objects():
            if isinstance(found, Connections) and len(found):
                found._bounds = replace(found._bounds, connections=len(found))
        assert (await Visitor(shop.world).get("/sign-in")).status == 200
        with pytest.raises(ClientError):
            await stream.next()


async def test_an_open_page_does_not_keep_anybody_signed_in(shop: Shop) -> None:
    visitor, world = await signed_in(shop.world), shop.world
    for _ in range(13):
        world.clock.advance(3600)
        seen = await visitor.get("/today", {"X-By-Itself": "1"})
    assert seen.goes_to.startswith("/sign-in")


async def again(visitor: Visitor, email: str = EMAIL) -> Visitor:
    """Return another browser of the same user."""
    world = visitor.world

    def begin(tx: Transaction) -> str:
        user = accounts.user_by_email(tx, email)
        assert user is not None
        return sessions.begin(tx, user.id, "127.0.0.1", "another", None)

    return with_secret(world, await world.installation.platform.write(begin))


@pytest.mark.parametrize("how", ["signed out elsewhere", "signed in at too many places", "shut out"])
async def test_the_stream_of_an_ended_session_ends_within_two_seconds(shop: Shop, how: str) -> None:
    """The next heartbeat would come only after ten seconds."""
    world, platform = shop.world, shop.world.installation.platform
    visitor = await signed_in(world)
    await world.jobs._notice_changes()
    async with streaming(visitor) as stream:
        match how:
            case "signed out elsewhere":
                assert await platform.write(lambda tx: sessions.end(tx, 1, 2), is_quiet=True)
            case "signed in at too many places":
                for _ in range(sessions.MOST_OF_A_USER):
                    await again(visitor)
            case _:
                await platform.write(lambda tx: disable_user(tx, EMAIL))
        async with asyncio.timeout(2):
            await world.jobs._notice_changes()
            assert await stream.next() == ("over", None)
            assert await stream.next() == ("", None)


async def test_who_goes_on_is_not_looked_at_for_the_end_of_another(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    other = await again(visitor)
    async with streaming(visitor) as stream, streaming(other) as ended:
        await shop.world.installation.platform.write(lambda tx: sessions.end(tx, 2, 2))
        await shop.world.jobs._notice_changes()
        assert await ended.next() == ("over", None)
        assert shop.world.jobs.changes.sessions == {1}
        await shop.order()
        await shop.world.jobs.keep_today()
        assert await stream.next_change() == [int(shop.world.company)]


async def test_one_person_cannot_take_the_places_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user has as many sessions as possible, and opens as many streams as a browser does with each."""
    most = BOUNDS["stream"].each["person"]
    monkeypatch.setitem(BOUNDS, "stream", BOUNDS["stream"]._replace(at_once=most + 1))
    async with open_world(tmp_path / "data") as world, AsyncExitStack() as held:
        visitor = await signed_in(world)
        browsers = [visitor, *[await again(visitor) for _ in range(sessions.MOST_OF_A_USER - 1)]]
        refused = [each for each in browsers * 6 if await refusal_of(held, each) == (503, "5")]
        assert (len(refused), world.jobs.changes.streams) == (len(browsers) * 6 - most, most)
        assert (await visitor.get("/today")).status == 200, "the page is there, and is not live"
        await world.new_user("ion@example.com", "member", ["ACME"], ["stock:read"])
        other = Visitor(world)
        await other.sign_in("ion@example.com", PASSWORD)
        async with streaming(other):
            assert world.jobs.changes.streams == most + 1
        await held.aclose()
        async with asyncio.timeout(LONGEST):  # closed streams no longer count, as soon as the server notices
            while world.jobs.changes.streams:  # noqa: ASYNC110 -- there is no event to wait for
                await asyncio.sleep(0.05)
        assert await refusal_of(held, visitor) is None


async def refusal_of(held: AsyncExitStack, visitor: Visitor) -> tuple[int, str] | None:
    """Return the status of a refused stream and its Retry-After. Return None for an accepted stream, which stays
    open.
    """
    address, cookie = f"{visitor.world.base_url}/live", {"Cookie": f"{cookie_of(visitor.world)}={visitor.secret}"}
    response = await held.enter_async_context(visitor.world.session.get(address, headers=cookie))
    return None if response.status == 200 else (response.status, response.headers["Retry-After"])
