"""Tests of unknown fields: the error suggests a similar known field."""

from typing import Annotated

import pytest

from wmsd.base.problems import Problem
from wmsd.contract.fields import Amount, Id, Input, SentBack
from wmsd.contract.list_queries import PageQuery, Query
from wmsd.contract.near_fields import MOST_LOOKED_FOR
from wmsd.contract.validation import validate_model

UNKNOWN = "is an unknown field"


class Line(Input):
    article_id: Id | None = None
    quantity_um3pl: int = 1
    quantity: Annotated[Amount | None, SentBack] = None


class Order(Input):
    partner_id: Id | None = None
    weight_kg: int = 1
    first: Line | None = None
    lines: list[Line] | None = None


class Found(PageQuery):
    search: str = ""


def told(values: dict[str, object], model: type[Input] | type[Query] = Order) -> dict[str, list[str]]:
    with pytest.raises(Problem) as refused:
        validate_model(model, values)
    return refused.value.errors


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("partner", "partner_id"), ("partnerId", "partner_id"), ("PARTNER_ID", "partner_id")),
        *(("weight", "weight_kg"), ("wieght_kg", "weight_kg"), ("line", "lines")),
        *(("colour", None), ("", None), ("partner_id" * 5, None), ("quantity", None)),
    ],
)
def test_the_nearest_field_is_named(name: str, meant: str | None) -> None:
    assert told({name: 1}) == {name: [UNKNOWN if meant is None else f"{UNKNOWN}; did you mean {meant}?"]}


def test_it_is_one_of_the_object_that_has_the_unknown_one() -> None:
    meant = [f"{UNKNOWN}; did you mean article_id?"]
    assert told({"lines": [{}, {"articleid": 1}], "first": {"article": 1}}) == {
        "lines.1.articleid": meant,
        "first.article": meant,
    }
    assert told({"lines": [{"partnr_id": 1}], "articleid": 1}) == {
        "lines.0.partnr_id": [UNKNOWN],
        "articleid": [UNKNOWN],
    }


def test_a_field_that_is_only_shown_is_not_meant() -> None:
    assert told({"lines": [{"quantiy": 1}]}) == {"lines.0.quantiy": [f"{UNKNOWN}; did you mean quantity_um3pl?"]}


def test_a_parameter_of_a_list_is_meant_as_well() -> None:
    assert told({"serch": "x"}, Found) == {"serch": [f"{UNKNOWN}; did you mean search?"]}


def test_few_names_are_looked_for() -> None:
    """The number of suggestions is limited, because the caller determines the number of names.

    A name in many lines counts once.
    """
    lines = told({"lines": [{"articleid": 1}] * 90})
    assert {sentence for (sentence,) in lines.values()} == {f"{UNKNOWN}; did you mean article_id?"}
    many = told({f"partner_i{number}": 1 for number in range(50)})
    assert sum(sentences != [UNKNOWN] for sentences in many.values()) == MOST_LOOKED_FOR
