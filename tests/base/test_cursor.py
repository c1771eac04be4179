"""Tests of cursors: a cursor is valid only for the list that returned it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.cursor import CursorSigner, began_with

SIGNER = CursorSigner(b"key")
positions = st.integers(-(2**63), 2**63 - 1)
filters = st.dictionaries(st.sampled_from(["warehouse_id", "article_id"]), st.integers(1, 99))

NO_CURSOR = (
    "does not belong to this company, this list and these filters|is not a cursor of this list. "
    "Start again without a cursor"
)


@given(positions, st.integers(1, 9), st.sampled_from(["stock", "articles"]), filters)
def test_a_cursor_comes_back(position: int, company: int, name: str, chosen: dict[str, int]) -> None:
    assert SIGNER.place(SIGNER.sign(position, company, name, chosen), company, name, chosen) == (
        position,
        "1",
        None,
    )


@given(positions, st.from_regex(r"[1-9][0-9]{0,3}-[0-9a-f]{8}", fullmatch=True))
def test_it_says_the_epoch_in_which_it_was_given(position: int, epoch: str) -> None:
    cursor = SIGNER.sign(position, 1, "stock", {}, epoch)
    assert SIGNER.place(cursor, 1, "stock", {}) == (position, epoch, None)
    assert len(cursor) <= 60
    for other in (cursor[:27], cursor[:-1], f"{cursor}A", SIGNER.sign(position, 1, "stock", {}) + cursor[27:]):
        with pytest.raises(ValueError, match=NO_CURSOR):
            SIGNER.place(other, 1, "stock", {})


@given(positions, filters, filters)
def test_a_cursor_is_bound(position: int, ours: dict[str, int], theirs: dict[str, int]) -> None:
    cursor = SIGNER.sign(position, 1, "stock", ours)
    elsewhere = [(SIGNER, 2, "stock", ours), (SIGNER, 1, "articles", ours), (CursorSigner(b"x"), 1, "stock", ours)]
    if ours != theirs:
        elsewhere.append((SIGNER, 1, "stock", theirs))
    for signer, company, name, chosen in elsewhere:
        with pytest.raises(ValueError, match=NO_CURSOR):
            signer.place(cursor, company, name, chosen)


@given(st.text(max_size=60))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=NO_CURSOR):
        SIGNER.place(text, 1, "stock", {})


@given(positions, st.integers(0, 26), st.characters(codec="ascii"))
def test_a_changed_cursor_is_refused_or_the_same(position: int, place: int, letter: str) -> None:
    cursor = SIGNER.sign(position, 1, "stock", {})
    changed = cursor[:place] + letter + cursor[place + 1 :]
    try:
        assert SIGNER.place(changed, 1, "stock", {}).position == position
    except ValueError:
        assert changed != cursor


KNOWN = "AAAAAAAAAAW_gkGjd7jXODSeI3E"
"""A cursor of position 5. Issued cursors stay valid when the program changes."""


def test_a_cursor_looks_the_same_in_every_version() -> None:
    assert SIGNER.sign(5, 1, "stock", {}) == KNOWN
    assert SIGNER.place(KNOWN, 1, "stock", {}) == (5, "1", None)


@given(positions, st.sampled_from(["1", "12-ab12cd34"]), st.dictionaries(st.just("since"), st.integers(1, 99)))
def test_it_says_what_its_walk_began_with(position: int, epoch: str, begins: dict[str, int]) -> None:
    cursor = SIGNER.sign(position, 1, "stock", {}, epoch, began_with(begins))
    assert SIGNER.place(cursor, 1, "stock", {}) == (position, epoch, began_with(begins))
    assert began_with(begins) != began_with({"since": 100})
    assert len(cursor) <= 60


def test_it_is_taken_in_its_own_spelling_without_padding_and_with() -> None:
    for position in range(100):
        cursor = SIGNER.sign(position, 1, "stock", {})
        assert len(cursor) == 27
        assert SIGNER.place(f"{cursor}=", 1, "stock", {}).position == position
        for other in (f"{cursor} ", f"{cursor[:9]}\n{cursor[9:]}", f" {cursor}", f"!!!!{cursor}"):
            with pytest.raises(ValueError, match=r"^is not a cursor of this list\. Start again without a cursor$"):
                SIGNER.place(other, 1, "stock", {})


def test_what_is_asked_for_may_be_of_any_kind() -> None:
    moment = {"updated_since": datetime(2026, 11, 20, tzinfo=UTC)}
    cursor = SIGNER.sign(1, 1, "stock", moment)
    assert SIGNER.place(cursor, 1, "stock", moment).position == 1
    with pytest.raises(ValueError, match="does not belong to this company, this list and these filters"):
        SIGNER.place(cursor, 1, "stock", {})
