"""How long a request occupies the event loop: only the time of its steps counts, and nothing is left behind."""

import asyncio
import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from wmsd.interfaces.http.loop_time import LoopTime


async def test_it_is_the_time_of_the_steps_without_what_is_waited_for() -> None:
    async def work() -> str:
        time.sleep(0.02)  # noqa: ASYNC251  (a step that blocks the loop, to be measured)
        await asyncio.sleep(0.2)
        return "done"

    occupancy = LoopTime(work())
    assert await occupancy == "done"
    assert 0.02 <= occupancy.seconds < 0.2


class Held:
    """An object that is referenced by the frames of a request."""


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
async def test_a_request_that_is_cancelled_leaves_nothing_to_collect() -> None:
    """Many requests are cancelled during an attack, and every caller waits during a garbage collection."""
    held: list[weakref.ref[Held]] = []

    async def work() -> None:
        mine = Held()
        held.append(weakref.ref(mine))
        await asyncio.sleep(60)

    async def request() -> None:
        await LoopTime(work())

    task = asyncio.create_task(request())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    del task
    await asyncio.sleep(0)
    assert held[0]() is None
