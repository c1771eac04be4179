"""Tests of names that nothing else has."""

import os

import pytest

from wmsd.base.ids import RandomIds


def test_names_are_drawn_one_by_one_when_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = os.urandom

    def drawn(size: int) -> bytes:
        if size > 16:
            raise MemoryError
        return draw(size)

    ids = RandomIds()
    monkeypatch.setattr(os, "urandom", drawn)
    names = {ids.unique() for _ in range(10)}
    assert len(names) == 10
    assert {len(bytes.fromhex(name)) for name in names} == {16}
