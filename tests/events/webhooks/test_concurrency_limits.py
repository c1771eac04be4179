"""Tests of how many attempts run at the same time."""

import asyncio
from contextlib import closing

from wmsd.events.webhooks.sending.throttle import (
    IN_TOTAL,
    PER_COMPANY,
    PER_HOST,
    ConcurrencyLimits,
    Lane,
    Slot,
)


async def taken(limits: ConcurrencyLimits, lanes: list[Lane]) -> list[Slot]:
    """Return the slots that these lanes get immediately. Lanes that have to wait give up."""
    slots = [Slot() for _ in lanes]
    tasks = [asyncio.create_task(limits.take(slot, lane)) for slot, lane in zip(slots, lanes, strict=True)]
    _, waiting = await asyncio.wait(tasks, timeout=0.01)
    for slot, task in zip(slots, tasks, strict=True):
        if task in waiting:
            task.cancel()
            await asyncio.wait([task])
            slot.close()
    return [slot for slot, task in zip(slots, tasks, strict=True) if task not in waiting]


async def test_each_limit_holds() -> None:
    for lanes, most in (
        ([Lane(True, 1, "a.test")] * 100, PER_HOST),
        ([Lane(True, 1, f"{number}.test") for number in range(100)], PER_COMPANY),
        ([Lane(True, number, "a.test") for number in range(200)], IN_TOTAL),
    ):
        assert len(await taken(ConcurrencyLimits(), lanes)) == most


async def test_each_share_and_each_company_has_its_own() -> None:
    limits = ConcurrencyLimits()
    held = await taken(limits, [Lane(False, 1, f"{number}.test") for number in range(100)])
    assert len(held) == PER_COMPANY
    assert len(await taken(limits, [Lane(True, 1, "0.test"), Lane(False, 2, "0.test")])) == 2


async def test_a_slot_that_is_given_back_is_for_who_waits_the_longest() -> None:
    limits, lane = ConcurrencyLimits(), Lane(True, 1, "a.test")
    held = await taken(limits, [lane] * PER_HOST)
    got: list[int] = []

    async def take(number: int) -> None:
        with closing(Slot()) as slot:
            await limits.take(slot, lane)
            got.append(number)

    waiting = [asyncio.create_task(take(number)) for number in range(3)]
    await asyncio.sleep(0)
    held[0].close()
    await asyncio.gather(*waiting)
    assert got == [0, 1, 2]


async def test_who_gives_up_takes_nothing_with_him() -> None:
    limits = ConcurrencyLimits()
    held = await taken(limits, [Lane(True, number, "a.test") for number in range(IN_TOTAL + 50)])
    assert len(held) == IN_TOTAL
    for slot in held:
        slot.close()
    assert len(await taken(limits, [Lane(True, 1000, "a.test")] * 20)) == PER_HOST
