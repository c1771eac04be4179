"""A reply that fails after its head was sent: the connection is cut, so that no client takes the part for the
whole.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import aiohttp
import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop
from tests.support.world import World
from wmsd.base.problems import Problem
from wmsd.db.engine.database import Database
from wmsd.interfaces.pages.kit.page_client import Answer, PageClient

DOWNLOAD = "/companies/1/articles.csv"
FOR_IMPORT = f"{DOWNLOAD}?format=import"
STREAM = "/live"
REFUSALS = {
    "the session ends": lambda: Answer(401, {"code": "UNAUTHENTICATED", "message": "Sign in."}),
    "the company is gone": lambda: Answer(404, {"code": "NOT_FOUND", "message": "There is no such company."}),
    "its module is off": lambda: Answer(403, {"code": "FORBIDDEN", "message": "The module is off."}),
    "the file cannot be read": lambda: _raised(Problem("SERVICE_UNAVAILABLE", "The file cannot be read.")),
    "something unforeseen": lambda: _raised(ValueError("unforeseen")),
}


def _raised(error: Exception) -> Answer:
    raise error


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    visitor = await signed_in(shop.world)
    rows = "".join(f"N{number:04},Name {number}\n" for number in range(600))
    await shop.world.import_csv("articles", f"code,name\n{rows}")
    return visitor


async def raw(world: World, visitor: Visitor, path: str, seconds: float = 20.0) -> bytes:
    """Return all bytes from a kept connection on which another request waits."""
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    reader, writer = await asyncio.open_connection("127.0.0.1", int(world.base_url.rpartition(":")[2]))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n".encode())
    writer.write(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
    came = b""
    with suppress(ConnectionResetError):
        async with asyncio.timeout(seconds):
            while more := await reader.read(100_000):
                came += more
    writer.close()
    return came


@pytest.mark.parametrize("path", [DOWNLOAD, FOR_IMPORT])
@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
async def test_a_download_that_fails_half_way_is_cut(
    visitor: Visitor, path: str, refusal: Callable[[], Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = PageClient.ask
    pieces = 0

    async def fails_at_the_second_piece(door: PageClient, *given: Any, **sent: Any) -> Answer:
        nonlocal pieces
        pieces += bool(sent.get("is_long"))
        return refusal() if sent.get("is_long") and pieces == 2 else await asked(door, *given, **sent)

    monkeypatch.setattr(PageClient, "ask", fails_at_the_second_piece)
    came = await raw(visitor.world, visitor, path)
    assert pieces == 2
    assert came.startswith(b"HTTP/1.1 200 OK")
    assert came.count(b"HTTP/1.1 ") == 1
    assert not came.endswith(b"0\r\n\r\n")
    assert (await visitor.get("/companies/1/articles")).status == 200
    assert visitor.world.installation.dispatcher.work.under_way("download") == 0


async def test_a_page_that_fails_half_way_is_cut(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        await shop.order({"article_code": "A", "quantity": 0.001}, notes="n" * 900)
    monkeypatch.setattr("wmsd.db.sql.joined_records.LARGEST_PAGE", 2_000)
    read, reads = Database.read_long, 0

    async def fails_at_the_second_piece(database: Database, *given: Any) -> Any:
        nonlocal reads
        reads += 1
        return _raised(Problem("SERVICE_UNAVAILABLE", "No.")) if reads == 2 else await read(database, *given)

    monkeypatch.setattr(Database, "read_long", fails_at_the_second_piece)
    with pytest.raises(aiohttp.ClientError):  # the reply began with status 200
        await shop.world.send("GET", "/api/sales-orders")
    assert reads == 2
    assert shop.world.installation.dispatcher.work.under_way("download") == 0


async def test_a_stream_of_events_that_fails_is_cut(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = PageClient.ask
    asks = 0

    async def fails_later(door: PageClient, *given: Any, **sent: Any) -> Answer:
        nonlocal asks
        asks += 1
        return _raised(ValueError("unforeseen")) if asks > 1 else await asked(door, *given, **sent)

    monkeypatch.setattr(PageClient, "ask", fails_later)
    coming = asyncio.create_task(raw(visitor.world, visitor, STREAM))
    await asyncio.sleep(0.5)
    await visitor.world.installation.files.visit(1, _touch)
    await visitor.world.jobs.keep_today()
    came = await coming
    assert came.startswith(b"HTTP/1.1 200 OK")
    assert came.count(b"HTTP/1.1 ") == 1
    assert not came.endswith(b"0\r\n\r\n")
    assert visitor.world.installation.dispatcher.work.under_way("stream") == 0


async def _touch(database: Database) -> None:
    await database.write(lambda tx: tx.execute("UPDATE articles SET active = active"))


async def test_a_browser_that_goes_away_leaves_no_error_in_the_log(
    visitor: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    port = int(visitor.world.base_url.rpartition(":")[2])
    for path in (DOWNLOAD, STREAM):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n".encode())
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.transport.abort()
    await asyncio.sleep(1.5)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    assert json.loads((await visitor.get("/api/health")).text)["status"] in ("ok", "degraded")
