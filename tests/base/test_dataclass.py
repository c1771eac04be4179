import copy
import dataclasses
import pickle
from collections.abc import Hashable
from dataclasses import FrozenInstanceError, asdict, field, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Lot:
    code: str
    quantity: int = 0
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)

    KINDS: ClassVar = ("lot",)


@dataclasses.dataclass(frozen=True, slots=True)
class OfLibrary:
    code: str
    quantity: int = 0
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Dated(Lot):
    year: int = 2026


@dataclass(frozen=True)
class Row:
    values: tuple[int, ...]

    @cached_property
    def total(self) -> int:
        return sum(self.values)


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


VALUES = st.tuples(
    st.text(max_size=2), st.integers(0, 2), st.lists(st.text(max_size=1), max_size=1), st.text(max_size=1)
)


@given(VALUES, VALUES)
def test_it_is_compared_shown_and_replaced_as_with_the_standard_library(one: Any, other: Any) -> None:
    assert (Lot(*one) == Lot(*other)) == (OfLibrary(*one) == OfLibrary(*other))
    assert repr(Lot(*one)).partition("(")[2] == repr(OfLibrary(*one)).partition("(")[2]
    assert asdict(replace(Lot(*one), code="new")) == asdict(replace(OfLibrary(*one), code="new"))


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_equals_have_one_hash(one: list[int], other: list[int]) -> None:
    assert len({Row(tuple(one)), Row(tuple(other))}) == len({tuple(one), tuple(other)})


def test_an_own_default_is_made_for_each() -> None:
    one, other = Lot("a"), Lot("b")
    one.tags.append("x")
    assert (one.quantity, other.tags, one.note) == (0, [], "")


def test_no_field_can_be_set_or_deleted() -> None:
    lot: Any = Lot("a")
    with pytest.raises(FrozenInstanceError):
        lot.code = "b"
    with pytest.raises(FrozenInstanceError):
        lot.other = 1
    with pytest.raises(FrozenInstanceError):
        del lot.code
    assert lot == Lot("a")


def test_a_class_that_extends_another_has_its_fields_and_is_never_equal_to_it() -> None:
    assert Dated("a", 1, [], "", 2025) != Dated("a", 1)
    assert Dated("a", 1).year == 2026
    assert Dated("a") != Lot("a")


def test_slots_leave_no_room_for_more_and_a_class_without_them_keeps_what_it_has_worked_out() -> None:
    assert not hasattr(Lot("a"), "__dict__")
    row = Row((1, 2))
    assert (row.total, vars(row)) == (3, {"values": (1, 2), "total": 3})


@pytest.mark.parametrize("each", [Lot("a", 2, ["x"], "n"), Row((1,)), Dated("a"), Nothing()])
def test_copies_and_pickles_are_equal(each: Any) -> None:
    assert copy.copy(each) == copy.deepcopy(each) == pickle.loads(pickle.dumps(each)) == each
    assert repr(pickle.loads(pickle.dumps(each))) == repr(each)


def test_methods_of_the_class_itself_are_kept() -> None:
    @dataclass(frozen=True, slots=True)
    class Code:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Code) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return self.text

    assert {Code("A"), Code("a")} == {Code("a")}
    assert repr(Code("A")) == "A"


def test_what_follows_a_construction_may_refuse_it() -> None:
    @dataclass(frozen=True, slots=True)
    class Positive:
        number: int

        def __post_init__(self) -> None:
            if self.number < 0:
                raise ValueError(self.number)

    assert Positive(1).number == 1
    with pytest.raises(ValueError, match="-1"):
        Positive(-1)


def test_a_class_that_is_not_frozen_is_the_standard_library_s() -> None:
    @dataclass(slots=True)
    class Count:
        number: int = 0

    count = Count()
    count.number += 1
    assert count == Count(1)
    assert not isinstance(count, Hashable)


def test_what_it_does_not_do_is_refused_at_the_declaration() -> None:
    with pytest.raises(TypeError, match="Ordered: a frozen class cannot have order"):
        dataclass(frozen=True, order=True)(type("Ordered", (), {"__annotations__": {"number": int}}))
    with pytest.raises(
        TypeError, match="number: a field of a frozen class must be a parameter by position or by name"
    ):
        dataclass(frozen=True)(
            type("Later", (), {"__annotations__": {"number": int}, "number": field(init=False)})
        )
