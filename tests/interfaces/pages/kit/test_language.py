"""The language of a page: the choice of the user, or otherwise the language that the browser requests."""

import re
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from wmsd.interfaces.pages.kit.text import language
from wmsd.interfaces.pages.kit.text.language import field_errors, formats, of_browser, translate_error
from wmsd.interfaces.pages.kit.text.words import grouped_number, moment


@pytest.fixture(autouse=True)
def _all_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer every language, including those with an incomplete catalogue."""
    monkeypatch.setattr(language, "OFFERED", tuple(language.FORMATS))


def language_of(seen: Seen) -> str:
    found = re.search(r'<html lang="(\w+)">', seen.text)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("", "en"),
        ("ro", "ro"),
        ("ro-RO,ro;q=0.9,en;q=0.8", "ro"),
        ("de-DE,de;q=0.9,ro;q=0.4,en;q=0.3", "ro"),
        ("en-GB,ro;q=0.9", "en"),
        ("ro;q=0,en", "en"),
        ("*", "en"),
        (";;;,q=,=", "en"),
    ],
)
def test_what_the_browser_likes_best(accepted: str, chosen: str) -> None:
    assert of_browser(accepted) == chosen


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200))
def test_whatever_a_browser_sends_there_is_a_language(accepted: str) -> None:
    assert of_browser(accepted) in language.FORMATS


async def test_a_page_is_in_the_language_of_the_browser_until_its_person_chooses(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    romanian = {"Accept-Language": "ro"}
    assert language_of(await visitor.get("/account")) == "en"
    seen = await visitor.get("/account", romanian)
    assert language_of(seen) == "ro"
    await visitor.post("/account/language", {"form_token": seen.form_token, "language": "en"})
    assert language_of(await visitor.get("/account", romanian)) == "en"
    assert language_of(await Visitor(shop.world).get("/sign-in", romanian)) == "ro"
    await visitor.post("/account/language", {"form_token": seen.form_token, "language": ""})
    assert language_of(await visitor.get("/account", romanian)) == "ro"
    refused = await visitor.post("/account/language", {"form_token": seen.form_token, "language": "xx"})
    assert refused.status == 422


async def test_choosing_a_language_forgets_nobodys_access(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    token = (await visitor.get("/account")).form_token
    await shop.world.installation.access.companies()
    before = shop.world.installation.access.entries
    await visitor.post("/account/language", {"form_token": token, "language": "ro"})
    assert shop.world.installation.access.entries == before > 0


def test_numbers_and_dates_are_written_as_the_language_does() -> None:
    for code, number, date in (
        ("en", "12\u202f345.5", "24 Nov 2026, 08:05 UTC"),
        ("ro", "12\u202f345,5", "24 nov. 2026, 08:05 UTC"),
    ):
        token = language.current.set(code)
        try:
            assert grouped_number(Decimal("12345.5")) == number
            assert moment("2026-11-24T08:05:09.123Z") == date
            assert formats() is language.FORMATS[code]
        finally:
            language.current.reset(token)


def test_an_error_with_a_value_is_told_in_romanian() -> None:
    token = language.current.set("ro")
    try:
        assert translate_error("must have at most 40 characters") == "trebuie să aibă cel mult 40 caractere"
        assert translate_error("nobody has translated this") == "nobody has translated this"
        assert translate_error("x" * 100_000) == "x" * 100_000
    finally:
        language.current.reset(token)


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        (["is missing"], "Address is missing."),
        (["is missing", "is too long"], "Address is missing; is too long."),
        (["The URL must begin with https://."], "The URL must begin with https://."),
        (["has no record 1. Did you mean 2?"], "Address has no record 1. Did you mean 2?"),
        (["is missing", "The URL is long."], "Address is missing. The URL is long."),
    ],
)
def test_a_phrase_follows_the_name_of_its_field_and_a_sentence_stands_by_itself(
    errors: list[str], told: str
) -> None:
    assert field_errors(errors, "Address") == told
