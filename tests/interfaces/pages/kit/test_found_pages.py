"""Searches of the guide and of the reference, which need no sign-in: their work is limited."""

import asyncio
import gc
from sys import getsizeof

import pytest

from tests.interfaces.pages.visitor import Visitor
from tests.support.world import World
from wmsd.dispatch.limits.costs import Payers
from wmsd.dispatch.limits.work_admission import BOUNDS
from wmsd.dispatch.prepared_answers import Kept
from wmsd.interfaces.pages.kit import search_pages
from wmsd.interfaces.pages.kit.search_pages import Make, SearchPages

PATHS = ("/docs/search", "/docs/api")


@pytest.mark.parametrize("path", PATHS)
async def test_an_equal_query_is_answered_from_what_is_kept(world: World, path: str) -> None:
    visitor, work = Visitor(world), world.installation.dispatcher.work
    first = await visitor.get(f"{path}?q=reservation")
    paid = sum(work.costs.of(Payers(address="127.0.0.1")))
    assert (first.status, paid > 0) == (200, True)
    async with work.turn("search", Payers()):  # nobody else gets a turn now
        again = await visitor.get(f"{path}?q=reservation")
        spaced = await visitor.get(f"{path}?q=+reservation++")
    assert again.text == spaced.text == first.text
    assert sum(work.costs.of(Payers(address="127.0.0.1"))) <= paid
    other = await visitor.get(f"{path}?q=warehouse")
    assert other.text != first.text


@pytest.mark.parametrize("path", PATHS)
async def test_so_many_wait_and_the_next_is_refused(world: World, path: str) -> None:
    visitor, work = Visitor(world), world.installation.dispatcher.work
    await visitor.get(f"{path}?q=first")  # this creates the index
    async with work.turn("search", Payers()):
        most = BOUNDS["search"].waiting
        waiting = [asyncio.create_task(visitor.get(f"{path}?q=word{number}")) for number in range(most + 4)]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        refused = next(iter(done)).result()
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
        assert "Too many searches at the same time" in refused.text
    assert {each.status for each in await asyncio.gather(*waiting)} == {200, 503}


async def test_what_is_kept_has_a_bound(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, size = "x" * 40, int(getsizeof(Kept(b"x" * 40)) * (1 + search_pages.MOST_COMPRESSED))
    monkeypatch.setattr(search_pages, "MOST_KEPT", 2 * size)
    kept = SearchPages(world.installation.dispatcher.work)
    made = []

    def make() -> str:
        made.append(1)
        return one

    async def prepare() -> Make:
        return make

    for query in ("a", "b", "a", "c", "a", "b"):
        assert (await kept.answer((query,), "127.0.0.1", prepare)).text == one
    # of the three pages, the least recently requested one is dropped
    assert (len(made), kept._size) == (4, 2 * size)


async def test_a_failure_that_nobody_waits_for_is_nobodys(world: World) -> None:
    kept, told = SearchPages(world.installation.dispatcher.work), list[dict[str, object]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    async def prepare() -> Make:
        await asyncio.sleep(0.05)
        raise ValueError("nothing can be found")

    waiting = asyncio.create_task(kept.answer(("q",), "127.0.0.1", prepare))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.sleep(0.1)
    del waiting
    gc.collect()
    assert (told, kept._making) == ([], {})
