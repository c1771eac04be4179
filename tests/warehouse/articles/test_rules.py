"""The rules for a valid article, and the words that a search looks for."""

import pytest

from wmsd.base.problems import Problem
from wmsd.contract.field_errors import FieldError
from wmsd.warehouse.articles.rules import Holders, reference_errors, search_words, wanted_fields

CLEAR = Holders(None, None, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" - ", []),
        ("bolt_M8 x", ["bolt", "M8", "x"]),
        ("Bolt BOLT bolt", ["bolt"]),
        ("a bb ccc dddd eeeee ffffff zz", ["ffffff", "eeeee", "dddd", "ccc", "bb", "zz"]),
    ],
)
def test_the_longest_words_are_looked_for(text: str, words: list[str]) -> None:
    assert search_words(text) == words


@pytest.mark.parametrize("holders", [CLEAR, Holders(4, None, True), Holders(None, 4, True), Holders(4, 4, True)])
def test_an_article_may_keep_what_it_has(holders: Holders) -> None:
    assert not list(reference_errors(4, holders))


def test_every_clash_is_told_at_once() -> None:
    for article_id in (None, 3):
        assert list(reference_errors(article_id, Holders(4, 5, False))) == [
            FieldError("VALIDATION_FAILED", "code", "is taken by another article", None, {"code_taken_by": 4}),
            FieldError("EXTERNAL_REF_TAKEN", "external_ref", "is taken by another article", {"id": 5}),
            FieldError("VALIDATION_FAILED", "client_id", "is not a client of this company"),
        ]


def test_some_fields_come_with_the_id() -> None:
    known = ("code", "name")
    assert wanted_fields(None, known) is None
    assert wanted_fields(" name,,code ", known) == ["id", "name", "code"]
    with pytest.raises(Problem) as refused:
        wanted_fields("name,nam,x", known)
    assert refused.value.errors == {
        "fields": ["nam is not a field of this record", "x is not a field of this record"]
    }
