"""Cursors come back to the list that gave them, and to no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.cursor import CursorSigner

SIGNER = CursorSigner(b"key")
positions = st.integers(-(2**63), 2**63 - 1)
filters = st.dictionaries(st.sampled_from(["warehouse_id", "article_id"]), st.integers(1, 99))


@given(positions, st.integers(1, 9), st.sampled_from(["stock", "articles"]), filters)
def test_a_cursor_comes_back(position: int, company: int, name: str, chosen: dict[str, int]) -> None:
    assert SIGNER.position(SIGNER.sign(position, company, name, chosen), company, name, chosen) == position


@given(positions, filters, filters)
def test_a_cursor_is_bound(position: int, ours: dict[str, int], theirs: dict[str, int]) -> None:
    cursor = SIGNER.sign(position, 1, "stock", ours)
    elsewhere = [(SIGNER, 2, "stock", ours), (SIGNER, 1, "articles", ours), (CursorSigner(b"x"), 1, "stock", ours)]
    if ours != theirs:
        elsewhere.append((SIGNER, 1, "stock", theirs))
    for signer, company, name, chosen in elsewhere:
        with pytest.raises(ValueError, match="is not a cursor"):
            signer.position(cursor, company, name, chosen)


@given(st.text(max_size=60))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a cursor"):
        SIGNER.position(text, 1, "stock", {})


@given(positions, st.integers(0, 26), st.characters(codec="ascii"))
def test_a_changed_cursor_is_refused_or_the_same(position: int, place: int, letter: str) -> None:
    cursor = SIGNER.sign(position, 1, "stock", {})
    changed = cursor[:place] + letter + cursor[place + 1 :]
    try:
        assert SIGNER.position(changed, 1, "stock", {}) == position
    except ValueError:
        assert changed != cursor
