"""Numbers that people type into forms: the meaning of each in the language of the page, and the numbers that the
page asks about.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interfaces.pages.records.test_act import CHANGE, article, form_of, sent
from tests.interfaces.pages.records.test_browse import signed_in
from tests.support.shop import Shop
from wmsd.base.decimal_marks import two_meanings
from wmsd.interfaces.pages.kit.text import language, words
from wmsd.interfaces.pages.kit.text.numbers import number_in_form, read_number

ASKED = "can mean two numbers: write 1234 or 1.2340"
ASKED_IN_ROMANIAN = "poate însemna două numere: scrieți 1234 sau 1,2340"
ASKED_OF_ONE = "can mean two numbers: write 1000 or 1"
IS_NO_NUMBER = "must be a number, such as 12.5"
READ = {
    "en": {
        "1,5": "1.5",
        "1.5": "1.5",
        "-2": "-2",
        "0,123": "0.123",
        "0.500": "0.5",
        "1234.500": "1234.5",
        "1234,567": "1234.567",
        "1.0000": "1",
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
        "1,2340": "1.234",
        "0.123": "0.123",
        "1.234,5": "1234.5",
        "1.234.567": "1234567",
        "1\u202f234,5": "1234.5",
    },
}
REFUSED = {
    "en": {
        **dict.fromkeys(["1,234", "1.234", "+1.234"], ASKED),
        **dict.fromkeys(["1,000", "1.000", " 1.000 "], ASKED_OF_ONE),
        "-12.500": "can mean two numbers: write -12500 or -12.5",
        **dict.fromkeys(["1e3", "1E3", "abc", "1,23,4", "NaN", "Infinity", "\u0661\u0662", "--1"], IS_NO_NUMBER),
    },
    "ro": {
        **dict.fromkeys(["1,234", "1.234"], ASKED_IN_ROMANIAN),
        **dict.fromkeys(["1,000", "1.000"], "poate însemna două numere: scrieți 1000 sau 1"),
        "1e3": "trebuie să fie un număr, de exemplu 12,5",
    },
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
    with pytest.raises(ValueError, match="^" + re.escape(REFUSED[name][text]) + "$"):
        read_number(text)


@given(st.decimals(-999_999_999, 999_999_999, places=6), st.sampled_from(language.OFFERED))
def test_what_a_page_prints_is_taken(number: Decimal, name: str) -> None:
    language.current.set(name)
    plain = number.normalize()
    assert read_number(number_in_form(Decimal(f"{plain:f}"))) == number
    printed = words.grouped_number(Decimal(f"{plain:f}"))
    assert two_meanings(printed) or read_number(printed) == number


def test_a_whole_number_is_asked_for_as_one() -> None:
    assert read_number("1 234", is_whole=True) == 1234
    for text in ("12.5", "abc", "1e3"):
        with pytest.raises(ValueError, match=r"^must be a whole number, such as 30$"):
            read_number(text, is_whole=True)
    for text in ("1,234", "1.234"):
        with pytest.raises(ValueError, match=r"^must be a whole number, such as 1234$"):
            read_number(text, is_whole=True)
    for text in ("1,000", "1.000"):
        with pytest.raises(ValueError, match=f"^{ASKED_OF_ONE}$"):
            read_number(text, is_whole=True)


async def test_a_form_asks_what_a_number_means_and_stores_nothing(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    seen = await sent(visitor, CHANGE, min_stock="1,234")
    assert (seen.status, f"Minimum stock {ASKED}." in seen.text) == (422, True)
    assert 'value="1,234"' in seen.text
    assert (await article(visitor, 1))["min_stock"] == 10
    for typed in ("1.000", "1,000"):
        seen = await sent(visitor, CHANGE, min_stock=typed)
        assert (seen.status, f"Minimum stock {ASKED_OF_ONE}." in seen.text) == (422, True)
        assert (await article(visitor, 1))["min_stock"] == 10
    for typed, stored in (("1,234.5", Decimal("1234.5")), ("1 000", 1000)):
        assert (await sent(visitor, CHANGE, min_stock=typed)).status == 303
        assert (await article(visitor, 1))["min_stock"] == stored


@pytest.mark.parametrize(("spoken", "shows"), [("en", "1.1250"), ("ro", "1,1250")])
async def test_a_value_that_would_be_asked_is_shown_so_that_it_is_taken(
    shop: Shop, spoken: str, shows: str
) -> None:
    """A change of another field leaves the value unchanged."""
    visitor = await signed_in(shop.world)
    assert (await sent(visitor, CHANGE, min_stock="1.1250")).status == 303
    language_of = {"Accept-Language": spoken}
    form = await visitor.get(CHANGE, language_of)
    assert f'value="{shows}"' in form.text
    for name in ("Bolt M8", "Nou"):  # without a change, and with another name
        assert (await visitor.post(CHANGE, {**form_of(form), "name": name}, language_of)).status == 303
        stored = await article(visitor, 1)
        assert (stored["name"], stored["min_stock"]) == (name, 1.125)
        form = await visitor.get(CHANGE, language_of)
