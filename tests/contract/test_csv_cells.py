"""Tests of CSV cells: no text becomes a formula in a spreadsheet, and every text is read as it was written."""

import re
import string
from decimal import Decimal
from typing import Annotated

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from wmsd.contract.csv_cells import MEMBERS, NUMBER, is_nullable, reader, unguarded, write_cell
from wmsd.contract.fields import Amount, Label


class Labelled(BaseModel):
    label: Label


BEGINNINGS = "=+-@\t\r\uff1d\uff0b\uff0d\uff20"
UNSEEN = "\0\x01\x0b\x7f\u200b\ufeff"
texts = st.text(st.sampled_from(BEGINNINGS + UNSEEN + "'; \n\u00a05.ea") | st.characters(), max_size=12)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_what_a_spreadsheet_would_run_is_written_as_a_text(beginning: str) -> None:
    assert write_cell(f"{beginning}HYPERLINK(A1)") == f"'{beginning}HYPERLINK(A1)"


def test_spaces_before_a_formula_hide_nothing() -> None:
    assert [write_cell(" =A1"), write_cell("\u00a0@A1"), write_cell("\n+A1")] == ["' =A1", "'\u00a0@A1", "'\n+A1"]


@pytest.mark.parametrize("number", ["5", "-5", "+5", "-0.25", "-1e5", "-.5"])
def test_a_number_stays_a_number(number: str) -> None:
    assert write_cell(number) == number


@pytest.mark.parametrize("text", ["", "Apple", "'quoted'", "it's", "a=b", "a-b", "5-", "#N/A"])
def test_what_is_no_formula_is_written_as_it_is(text: str) -> None:
    assert write_cell(text) == text


def test_a_text_that_looks_guarded_already_comes_back_too() -> None:
    assert [write_cell(text) for text in ("'=1", "''=1", "'-5")] == ["''=1", "'''=1", "''-5"]


def test_a_tab_before_a_formula_hides_nothing() -> None:
    """A tab before a formula does not hide the formula, because a spreadsheet may split cells at tabs."""
    assert write_cell("sweet\t=HYPERLINK(A1)") == "sweet\t'=HYPERLINK(A1)"
    assert write_cell("sweet\t \r@A1;5\t+A1") == "sweet\t' \r@A1;5\t'+A1"
    assert write_cell("\t=A1") == "'\t'=A1"
    assert write_cell("5\t-5") == "5\t-5"


@pytest.mark.parametrize(
    "unseen", ["\0", "\x01", "\x0b", "\x1f", "\x7f", "\x85", "\u200b", "\u200e", "\ufeff", " \ufeff "]
)
def test_nothing_that_is_not_seen_hides_a_formula(unseen: str) -> None:
    assert write_cell(f"{unseen}=A1") == f"'{unseen}=A1"


def test_the_members_of_a_list_are_no_formulas_either() -> None:
    """Members of a list are protected from becoming formulas too.

    A spreadsheet whose lists have `;` between their members splits a line there.
    """
    assert write_cell(["=A", "b", "-5", "@c"]) == "'=A;b;-5;'@c"
    assert write_cell(["a;=b", "=c"]) == '["a;\'=b","=c"]'
    assert write_cell("sweet;=HYPERLINK(A1)") == "sweet;'=HYPERLINK(A1)"


READ = {
    "'400001": "400001",
    "'00123": "00123",
    "''00123": "'00123",
    "'1.5": "1.5",
    "'1E+12": "1E+12",
    '="00123"': "00123",
    '="1E+12"': "1E+12",
    '="say ""hi"""': 'say "hi"',
    '="\'00123"': "'00123",
    "'1;'2": "1;2",
    "'quoted'": "'quoted'",
    "'40 A": "'40 A",
    "24E-1": "24E-1",
}


@pytest.mark.parametrize("cell", READ)
def test_a_number_that_a_spreadsheet_has_as_a_text_is_that_text(cell: str) -> None:
    read = reader(Labelled.model_fields["label"])
    assert read(unguarded(cell)) == READ[cell]
    assert type(read(unguarded(cell))) is str
    assert read(unguarded(write_cell(READ[cell]))) == READ[cell]


@given(texts | st.from_regex(r"[='\"]{0,3}[0-9.,]{0,3}(E[+-]?[0-9]{0,3})?\"?", fullmatch=True))
@example("'=")
@example("'-5")
@example("1E+12")
@example("'1E+12")
@example("'00123")
@example('="00123"')
@example("a;1E+12")
@example("-5;'-5;=5")
@example("\r\n=1")
@example("a\t'=1")
@example("\t'\t-5;'\t=1")
def test_every_text_comes_back(text: str) -> None:
    assert unguarded(write_cell(text)) == text


@given(texts)
@example(" =1")
@example(" \t")
@example("a\t=1")
@example("a;\t\u200b=1")
def test_no_cell_begins_as_a_formula(text: str) -> None:
    for part in re.split(r"[;\t]", write_cell(text)):
        assert NUMBER.fullmatch(part) or not part.strip(UNSEEN + string.whitespace).startswith(tuple(BEGINNINGS))


members = st.text(st.sampled_from(BEGINNINGS + "';[5 ") | st.characters(), min_size=1, max_size=5)


@given(st.lists(members, max_size=4))
@example(["0\r\n0"])
@example(["4E+12"])
@example(["[1]"])
def test_every_list_comes_back(members: list[str]) -> None:
    assert MEMBERS(unguarded(write_cell(members))) == members


@pytest.mark.parametrize(
    ("value", "cell"),
    [(None, ""), (True, "true"), (False, "false"), ([], ""), (["a"], "a"), (["[a"], '["[a"]'), ([" a"], '[" a"]')],
)
def test_what_is_no_text_has_a_cell_too(value: object, cell: str) -> None:
    assert write_cell(value) == cell


def test_a_list_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^must be a list with ; between the values, or a JSON array$"):
        MEMBERS("[a")


class Sheet(BaseModel):
    name: str
    note: str | None = None
    weight: Amount = 1
    height: Annotated[Amount, Field(description="?")] | None = None
    active: bool = True
    closed: Annotated[bool | None, Field(description="?")] = None
    tags: list[str] = []
    places: Annotated[list[Annotated[str, Field(max_length=5)]], Field(max_length=9)] | None = None


def read(name: str, cell: str) -> object:
    return reader(Sheet.model_fields[name])(cell)


@pytest.mark.parametrize(
    ("name", "cell", "value"),
    [
        ("name", "a\r\nb\rc", "a\nb\rc"),
        ("note", "5", "5"),
        ("weight", " 12.50 ", Decimal("12.50")),
        ("height", "1e-2", Decimal("0.01")),
        ("active", " TRUE", True),
        ("active", "nu", False),
        ("closed", "da ", True),
        ("closed", "0", False),
        ("tags", "a;;b", ["a", "b"]),
        ("places", '["a;b"]', ["a;b"]),
    ],
)
def test_a_cell_is_read_as_its_field_says(name: str, cell: str, value: object) -> None:
    assert read(name, cell) == value


@pytest.mark.parametrize(
    ("name", "cell", "sentence"),
    [
        ("weight", "12,5", "must be a number with a decimal point, such as 12.5"),
        ("height", "", "must be a number with a decimal point, such as 12.5"),
        ("active", "maybe", "must be true or false"),
        ("closed", "", "must be true or false"),
    ],
)
def test_a_cell_that_cannot_be_read_says_what_it_must_be(name: str, cell: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        read(name, cell)


def test_which_fields_may_be_empty() -> None:
    assert {name for name, field in Sheet.model_fields.items() if is_nullable(field)} == {
        *("note", "height", "closed", "places")
    }
