"""CSV cells: no text becomes a formula in a spreadsheet, and every text comes back as it was."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wmsd.base.cells import MEMBERS, NUMBER, unguarded, write

BEGINNINGS = "=+-@\t\r\uff1d\uff0b\uff0d\uff20"
texts = st.text(st.sampled_from(BEGINNINGS + "'; \n\u00a05.ea") | st.characters(), max_size=12)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_what_a_spreadsheet_would_run_is_written_as_a_text(beginning: str) -> None:
    assert write(f"{beginning}HYPERLINK(A1)") == f"'{beginning}HYPERLINK(A1)"


def test_spaces_before_a_formula_hide_nothing() -> None:
    assert [write(" =A1"), write("\u00a0@A1"), write("\n+A1")] == ["' =A1", "'\u00a0@A1", "'\n+A1"]


@pytest.mark.parametrize("number", ["5", "-5", "+5", "-0.25", "-1e5", "-.5"])
def test_a_number_stays_a_number(number: str) -> None:
    assert write(number) == number


@pytest.mark.parametrize("text", ["", "Apple", "'quoted'", "it's", "a=b", "a-b", "5-", "#N/A"])
def test_what_is_no_formula_is_written_as_it_is(text: str) -> None:
    assert write(text) == text


def test_a_text_that_looks_guarded_already_comes_back_too() -> None:
    assert [write(text) for text in ("'=1", "''=1", "'-5")] == ["''=1", "'''=1", "''-5"]


def test_the_members_of_a_list_are_no_formulas_either() -> None:
    """A spreadsheet whose lists have `;` between their members splits a line there."""
    assert write(["=A", "b", "-5", "@c"]) == "'=A;b;-5;'@c"
    assert write(["a;=b", "=c"]) == '["a;\'=b","=c"]'
    assert write("sweet;=HYPERLINK(A1)") == "sweet;'=HYPERLINK(A1)"


@given(texts)
@example("'=")
@example("'-5")
@example("-5;'-5;=5")
@example("\r\n=1")
def test_every_text_comes_back(text: str) -> None:
    assert unguarded(write(text)) == text


@given(texts)
@example(" =1")
def test_no_cell_begins_as_a_formula(text: str) -> None:
    for part in write(text).split(";"):
        assert NUMBER.fullmatch(part) or not part.strip(" ").startswith(tuple(BEGINNINGS))


members = st.text(st.sampled_from(BEGINNINGS + "';[5 ") | st.characters(), min_size=1, max_size=5)


@given(st.lists(members, max_size=4))
def test_every_list_comes_back(members: list[str]) -> None:
    assert MEMBERS(unguarded(write(members))) == members
