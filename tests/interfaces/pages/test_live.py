"""The event stream of the pages: whose companies have changed, and nothing of others."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientError, ClientResponse

from tests.interfaces.pages.test_browsing import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop
from wmsd.db.database import Database
from wmsd.interfaces.http.connections import Connections
from wmsd.interfaces.pages.live import MOST_OF_A_SESSION

LONGEST = 30.0


class Stream:
    def __init__(self, response: ClientResponse) -> None:
        self._response = response

    async def next(self) -> tuple[str, Any]:
        """The next event and its data; an empty name at the end."""
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


async def _can_stream(visitor: Visitor) -> bool:
    cookie = {"Cookie": f"wmsd={visitor.cookies['wmsd']}"}
    async with visitor.world.session.get(f"{visitor.world.base_url}/live", headers=cookie) as response:
        return response.status == 200


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
    assert (await Visitor(shop.world, {"wmsd": "stolen"}).get("/live")).status == 204


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
    """It does nothing but wait, and a browser opens it again by itself."""
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


async def test_a_session_has_so_many_streams(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    async with asyncio.TaskGroup() as held:
        enough = asyncio.Event()
        begun = asyncio.Semaphore(0)

        async def hold() -> None:
            async with streaming(visitor):
                begun.release()
                await enough.wait()

        for _ in range(MOST_OF_A_SESSION):
            held.create_task(hold())
        for _ in range(MOST_OF_A_SESSION):
            await begun.acquire()
        refused = await visitor.get("/live")
        assert (refused.status, refused.headers["Retry-After"]) == (429, "10")
        enough.set()
    async with asyncio.timeout(LONGEST):  # those that are closed count no more, as soon as the server knows
        while not await _can_stream(visitor):  # noqa: ASYNC110 -- the server is asked, and has no event for us
            await asyncio.sleep(0.05)
