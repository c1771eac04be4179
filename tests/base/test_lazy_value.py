"""Tests of values that are created at the first request and then retained."""

import asyncio
import gc

import pytest

from wmsd.base.lazy_value import LazyValue


async def test_it_is_made_once_for_all_who_ask_meanwhile() -> None:
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    once = LazyValue(make)
    assert made == []
    assert await asyncio.gather(*(once.get() for _ in range(5))) == made * 5


async def test_a_failure_is_told_and_the_next_try_makes_it() -> None:
    tries = iter((False, True))

    def make() -> str:
        if not next(tries):
            raise MemoryError("no memory")
        return "made"

    once = LazyValue(make)
    with pytest.raises(MemoryError, match="no memory"):
        await once.get()
    assert await once.get() == "made"


async def test_no_collection_looks_through_it() -> None:
    once: LazyValue[list[list[int]]] = LazyValue(lambda: [[] for _ in range(1000)])
    try:
        made = await once.get()
        assert not {id(each) for each in made} & {id(each) for each in gc.get_objects()}
    finally:
        gc.unfreeze()
