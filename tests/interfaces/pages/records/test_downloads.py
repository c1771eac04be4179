"""Lists as files: the number of concurrent downloads, and a browser that does not read."""

import asyncio
import socket
from contextlib import suppress

import pytest

from tests.interfaces.pages.records.test_browse import EMAIL, signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop
from wmsd.dispatch.limits.costs import Payers
from wmsd.dispatch.limits.work_admission import WorkAdmission

FILE = "/companies/1/articles.csv"


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


@pytest.fixture
def work(visitor: Visitor) -> WorkAdmission:
    return visitor.world.installation.dispatcher.work


async def payers(visitor: Visitor) -> Payers:
    """Return the payers of a download by the visitor."""
    [[user_id]] = await visitor.world.installation.platform.read(
        lambda tx: tx.rows("SELECT id FROM users WHERE email = ?", (EMAIL,))
    )
    return Payers("1", str(user_id), "127.0.0.1")


async def test_a_person_waits_for_the_end_of_the_first_and_pays_for_each(
    visitor: Visitor, work: WorkAdmission
) -> None:
    own = await payers(visitor)
    before = work.costs.of(own)
    await visitor.get(FILE)
    assert all(after > cost for after, cost in zip(work.costs.of(own), before, strict=True))
    async with work.turn("download", own):
        second = asyncio.create_task(visitor.get(FILE))
        done, _ = await asyncio.wait([second], timeout=0.2)
        assert not done
        assert (await visitor.get("/companies/1/articles")).status == 200
    assert (await second).status == 200


async def test_too_many_are_refused_with_a_page_that_says_so(visitor: Visitor, work: WorkAdmission) -> None:
    own = await payers(visitor)
    async with work.turn("download", own):
        waiting = [asyncio.create_task(visitor.get(FILE)) for _ in range(9)]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        [refused] = [each.result() for each in done]
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
        assert "Too many downloads at the same time" in refused.text
    assert {each.status for each in await asyncio.gather(*waiting)} == {200, 503}
    assert work.under_way("download") == 0


async def changes(work: WorkAdmission, under_way: int) -> None:
    """Wait until `under_way` downloads are running."""
    async with asyncio.timeout(20):
        while work.under_way("download") != under_way:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)


async def test_a_browser_that_takes_nothing_is_cut_off_and_gives_its_place_back(
    visitor: Visitor, work: WorkAdmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wmsd.interfaces.http.pieces.PATIENCE_SECONDS", 0.3)
    rows = "".join(f"N{number:05},{'x' * 200}\n" for number in range(40_000))
    await visitor.world.import_csv("articles", f"code,name\n{rows}")
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, ("127.0.0.1", int(visitor.world.base_url.rpartition(":")[2])))
        await loop.sock_sendall(client, f"GET {FILE} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n".encode())
        await changes(work, 1)
        await changes(work, 0)
        taken = b""
        with suppress(ConnectionResetError):
            while more := await loop.sock_recv(client, 1_000_000):
                taken += more
    assert b"HTTP/1.1 200 OK" in taken
    assert taken.count(b"HTTP/1.1 ") == 1
    assert not taken.endswith(b"0\r\n\r\n")  # the missing end tells the client that the file is incomplete
