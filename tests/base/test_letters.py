"""Tests of letters beyond ASCII: one form for comparison, and a plain form for searching."""

import unicodedata
from collections.abc import Callable

import pytest

from wmsd.base.letters import UNDECOMPOSED, composed_text, decomposed_text, plain, prepared_password
from wmsd.db.migrations import COMPANY


@pytest.mark.parametrize("text", ["Łódź", "Straße", "ẞ", "Crème Brûlée", "Nguyễn Đình", "Ørsted Æ", "BOLT-8 a_b"])
def test_a_text_is_the_same_in_each_of_its_forms(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert {plain(each) for each in forms} == {plain(text)}
    assert {composed_text(each) for each in forms} == {forms[0]}
    assert {decomposed_text(each) for each in forms} == {forms[1]}


def test_plain_letters() -> None:
    assert (
        plain("Łódź STRASSE Straße Ørsted Æ Đình \u0131\u0131 é_1") == "lodz strasse strasse orsted ae dinh ii e_1"
    )


def test_the_index_of_articles_has_the_same_plain_letters() -> None:
    (path,) = (each for each in COMPANY.scripts() if each.name.endswith("_plain_letters.sql"))
    script = path.read_text(encoding="utf-8")
    for letter, plain_letters in UNDECOMPOSED.items():
        assert script.count(f", '{chr(letter)}', '{plain_letters}')") == 3, chr(letter)


@pytest.mark.parametrize("change", [composed_text, decomposed_text, plain, prepared_password])
def test_a_text_that_would_take_long_keeps_its_form(change: Callable[[str], str]) -> None:
    text = "a" + "\u0301" * 500_000 + "\u0323" * 500_000
    assert change(text) == text
