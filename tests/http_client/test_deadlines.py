"""Tests of deadlines: each attempt has its own, whatever happens to the others."""

import asyncio

import pytest

from wmsd.http_client.deadlines import Countdowns, Deadline

SOON = 0.05
LONG = 60.0


def lasting(seconds: float) -> Countdowns[Deadline]:
    return Countdowns(seconds, Deadline.pass_by)


async def hangs(deadlines: Countdowns[Deadline]) -> None:
    with Deadline(deadlines):
        await asyncio.Event().wait()


async def test_what_takes_too_long_ends_in_a_timeout_error() -> None:
    with pytest.raises(TimeoutError):
        await hangs(lasting(SOON))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_is_over_in_time_is_never_cancelled() -> None:
    deadlines = lasting(SOON)
    with Deadline(deadlines) as deadline:
        await asyncio.sleep(0)
    await asyncio.sleep(3 * SOON)
    assert not deadline.has_passed


async def test_each_has_its_own_time() -> None:
    loop, deadlines = asyncio.get_running_loop(), lasting(4 * SOON)
    ended: list[tuple[int, float]] = []

    async def one(number: int) -> None:
        began = loop.time()
        with pytest.raises(TimeoutError):
            await hangs(deadlines)
        ended.append((number, loop.time() - began))

    tasks = []
    for number in range(5):
        tasks.append(asyncio.create_task(one(number)))
        await asyncio.sleep(SOON)
    await asyncio.gather(*tasks)
    assert [number for number, _ in ended] == [0, 1, 2, 3, 4]
    assert all(lasted >= 4 * SOON - 0.002 for _, lasted in ended)  # the loop's clock counts milliseconds


async def test_one_that_begins_when_all_others_are_long_over_ends_as_well() -> None:
    deadlines = lasting(SOON)
    with Deadline(deadlines):
        pass
    await asyncio.sleep(3 * SOON)
    with pytest.raises(TimeoutError):
        await hangs(deadlines)


async def test_a_thousand_at_once_all_end() -> None:
    deadlines = lasting(SOON)
    found = await asyncio.gather(*(hangs(deadlines) for _ in range(1000)), return_exceptions=True)
    assert {type(each) for each in found} == {TimeoutError}


async def test_who_cancels_from_outside_is_heard() -> None:
    task = asyncio.create_task(hangs(lasting(LONG)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_cancels_in_the_moment_of_the_deadline_is_heard_too() -> None:
    deadlines = lasting(LONG)
    inside = asyncio.Event()

    async def both() -> None:
        with Deadline(deadlines) as deadline:
            deadline.pass_by()
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(both())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_is_told_as_it_is() -> None:
    with pytest.raises(OSError, match="refused"), Deadline(lasting(LONG)):
        raise OSError("refused")


async def test_an_error_made_of_the_deadline_leaves_the_task_uncancelled() -> None:
    deadline = Deadline(lasting(SOON))
    with pytest.raises(OSError, match="cut off"), deadline:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise OSError("cut off") from None
    task = asyncio.current_task()
    assert deadline.has_passed
    assert task is not None
    assert task.cancelling() == 0


async def test_one_that_can_have_no_timer_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline that gets no timer has not started. Otherwise it would end whatever the task did later."""
    loop, deadlines = asyncio.get_running_loop(), lasting(SOON)
    with monkeypatch.context() as failing:
        failing.setattr(loop, "call_at", no_timer)
        with pytest.raises(MemoryError), Deadline(deadlines):
            pass
    with pytest.raises(TimeoutError), Deadline(deadlines):
        await asyncio.Event().wait()
    await asyncio.sleep(3 * SOON)


def no_timer(*_: object) -> None:
    raise MemoryError
