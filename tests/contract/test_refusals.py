"""Tests of the contents of a refusal, and of what abilities include."""

import pytest

from wmsd.base.problems import (
    LONGEST_PATH,
    LONGEST_SENTENCE,
    MOST_LISTED,
    Problem,
    forbidden,
    invalid,
    not_found,
)
from wmsd.contract.access import ABILITIES, expand
from wmsd.contract.field_errors import FieldError, refuse_field_errors


def test_an_answer_has_what_there_is_to_say_and_nothing_else() -> None:
    assert Problem("FORBIDDEN", "No.").body() == {"message": "No.", "code": "FORBIDDEN"}
    full = Problem("INVALID_STATUS", "No.", errors={"a": ["is b"]}, details={})
    assert full.body() == {"message": "No.", "code": "INVALID_STATUS", "errors": {"a": ["is b"]}, "details": {}}
    assert Problem("VALIDATION_FAILED", "No.", status=400).status == 400


def test_each_refusal_has_its_code() -> None:
    for problem, status, code, message in (
        (not_found("article as 7"), 404, "NOT_FOUND", "There is no such article as 7."),
        (forbidden("No."), 403, "FORBIDDEN", "No."),
        (invalid({"a": ["is b"]}), 422, "VALIDATION_FAILED", "One field is not valid."),
        (invalid({"a": ["is b", "is c"]}), 422, "VALIDATION_FAILED", "2 fields are not valid."),
    ):
        assert (problem.status, problem.code, problem.message) == (status, code, message)


def test_to_the_last_letter_and_the_last_sentence_it_is_told() -> None:
    path, sentence = "x" * LONGEST_PATH, "y" * LONGEST_SENTENCE
    assert invalid({path: [sentence]}).errors == {path: [sentence]}
    told = invalid({"a": ["b"] * MOST_LISTED, "c": ["d"]}).errors
    assert told == {"a": ["b"] * MOST_LISTED, "": ["has at least one more error, which is not listed"]}


def test_errors_are_told_together_under_the_first_code() -> None:
    refuse_field_errors([])
    errors = [
        FieldError("INSUFFICIENT_STOCK", "lines.0.quantity", "is too much"),
        FieldError("INVALID_ARTICLE", "lines.0.article_id", "is none"),
        FieldError("INSUFFICIENT_STOCK", "lines.0.quantity", "and more"),
    ]
    with pytest.raises(Problem) as refused:
        refuse_field_errors(errors)
    assert (refused.value.code, refused.value.message) == ("INVALID_ARTICLE", "An article is not valid.")
    assert refused.value.errors == {
        "lines.0.quantity": ["is too much", "and more"],
        "lines.0.article_id": ["is none"],
    }


def test_a_star_stands_for_every_ability() -> None:
    assert expand(["stock:read"]) == {"stock:read"}
    assert expand(["stock:read", "*"]) == set(ABILITIES)
    assert expand([]) == set()
