"""Numbers that people type into forms: what each means in the language of the page, and what is asked."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interfaces.pages.test_acting import CHANGE, article, form_of, sent
from tests.interfaces.pages.test_browsing import signed_in
from tests.support.shop import Shop
from wmsd.interfaces.pages import language, words
from wmsd.interfaces.pages.numbers import read_number, shown

ASKED = "may mean two numbers: write 1234, or 1.234"
ASKED_IN_ROMANIAN = "poate însemna două numere: scrieți 1234 sau 1,234"
IS_NO_NUMBER = "must be a number, such as 12.5"
READ = {
    "en": {
        "1,5": "1.5",
        "1.5": "1.5",
        "-2": "-2",
        "1.234": "1.234",
        "0,123": "0.123",
        "1234,567": "1234.567",
        "1,2340": "1.234",
        "1,234.5": "1234.5",
        "1.234,5": "1234.5",
        "1,234,567": "1234567",
        "1 234.5": "1234.5",
        "1\u202f234\u202f567": "1234567",
        "1\u00a0234": "1234",
        " 12 ": "12",
    },
    "ro": {
        "1,5": "1.5",
        "1.5": "1.5",
        "-0,5": "-0.5",
        "1,234": "1.234",
        "0.123": "0.123",
        "1.234,5": "1234.5",
        "1.234.567": "1234567",
        "1\u202f234,5": "1234.5",
    },
}
REFUSED = {
    "en": {
        "1,234": ASKED,
        **dict.fromkeys(["1e3", "1E3", "abc", "1,23,4", "NaN", "Infinity", "\u0661\u0662", "--1"], IS_NO_NUMBER),
    },
    "ro": {"1.234": ASKED_IN_ROMANIAN, "1e3": "trebuie să fie un număr, de exemplu 12,5"},
}


@pytest.fixture(autouse=True)
def _language() -> Iterator[None]:
    before = language.current.get()
    yield
    language.current.set(before)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, each in READ.items() for text in each])
def test_a_number_means_one_thing(name: str, text: str) -> None:
    language.current.set(name)
    assert read_number(text) == Decimal(READ[name][text])


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, each in REFUSED.items() for text in each])
def test_what_is_no_number_or_two_is_told(name: str, text: str) -> None:
    language.current.set(name)
    with pytest.raises(ValueError, match=REFUSED[name][text]):
        read_number(text)


@given(st.decimals(-999_999_999, 999_999_999, places=6), st.sampled_from(language.OFFERED))
def test_what_a_page_prints_is_taken(number: Decimal, name: str) -> None:
    language.current.set(name)
    plain = number.normalize()
    for text in (words.figure(Decimal(f"{plain:f}")), shown(Decimal(f"{plain:f}"))):
        assert read_number(text) == number


def test_a_whole_number_is_asked_for_as_one() -> None:
    """A separator can only be one of groups."""
    assert read_number("1,234", is_whole=True) == 1234
    for text in ("12.5", "1.234", "abc", "1e3"):
        with pytest.raises(ValueError, match="must be a whole number, such as 30"):
            read_number(text, is_whole=True)


async def test_a_form_asks_what_a_number_means_and_stores_nothing(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    seen = await sent(visitor, CHANGE, min_stock="1,234")
    assert (seen.status, f"Minimum stock {ASKED}." in seen.text) == (422, True)
    assert 'value="1,234"' in seen.text
    assert (await article(visitor, 1))["min_stock"] == 10
    for typed, stored in (("1,234.5", Decimal("1234.5")), ("1 000", 1000)):
        assert (await sent(visitor, CHANGE, min_stock=typed)).status == 303
        assert (await article(visitor, 1))["min_stock"] == stored


async def test_a_form_begins_with_the_number_as_its_reader_writes_it(shop: Shop) -> None:
    """So that a change of something else leaves it alone."""
    visitor = await signed_in(shop.world)
    assert (await sent(visitor, CHANGE, min_stock="1.234")).status == 303
    romanian = {"Accept-Language": "ro"}
    form = await visitor.get(CHANGE, romanian)
    assert 'value="1,234"' in form.text
    assert (await visitor.post(CHANGE, {**form_of(form), "name": "Nou"}, romanian)).status == 303
    changed = await article(visitor, 1)
    assert (changed["name"], changed["min_stock"]) == ("Nou", 1.234)
