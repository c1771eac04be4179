"""Tests of what each type of field accepts, stores and refuses, with the exact error sentences."""

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from wmsd.base.problems import Problem
from wmsd.base.quantity import MAXIMUM
from wmsd.contract import fields
from wmsd.contract.fields import (
    Code,
    Date,
    Email,
    Id,
    Input,
    Name,
    OptionalLabel,
    OptionalText,
    Text,
    Timestamp,
)
from wmsd.contract.validation import field_errors, validate_model


def taken(kind: Any, value: object) -> object:
    """Return the stored value, or the sentence that refuses the value."""
    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        (sentences,) = field_errors(error).values()
        (sentence,) = sentences
        return f"refused: {sentence}"


NO_NUMBER, NOT_ABOVE, BELOW = "must be a number", "must be greater than 0", "must not be below 0"


@pytest.mark.parametrize(
    ("value", "quantity", "amount", "signed"),
    [
        (1, 1_000_000, 1_000_000, 1_000_000),
        (Decimal("0.000001"), 1, 1, 1),
        (Decimal("999999999.999999"), MAXIMUM, MAXIMUM, MAXIMUM),
        (0, NOT_ABOVE, 0, 0),
        (Decimal("-0.000001"), NOT_ABOVE, BELOW, -1),
        (Decimal("-999999999.999999"), NOT_ABOVE, BELOW, -MAXIMUM),
        (Decimal("0.0000001"), *["must have at most 6 decimal places"] * 3),
        (10**9, *["must be at most 999999999.999999"] * 3),
        (True, *[NO_NUMBER] * 3),
        ("1", *[NO_NUMBER] * 3),
        (1.5, *[NO_NUMBER] * 3),
        (None, *[NO_NUMBER] * 3),
    ],
)
def test_decimals_are_kept_in_millionths(value: object, quantity: object, amount: object, signed: object) -> None:
    for minimum, strictly, expected in ((0, True, quantity), (0, False, amount), (-MAXIMUM, False, signed)):
        kind = Annotated[int, fields._decimal(minimum, strictly)]
        assert taken(kind, value) == (f"refused: {expected}" if isinstance(expected, str) else expected)


CONTROL = "refused: must not contain control characters"
LINE_BREAK = "refused: must not contain a line break"
BUT_LINES = f"{CONTROL} other than line breaks and tabs"
BLANK = "refused: must not begin or end with a space"
DATE = "refused: must be a date such as 2026-11-20"
MOMENT = "refused: must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z"
NO_ID, NO_EMAIL = "refused: must be a positive id", "refused: must be an e-mail address"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        *((kind, "A b", "A b") for kind in (Code, Name, OptionalLabel, Text)),
        *(
            (kind, value, CONTROL)
            for kind in (Code, Name, OptionalLabel)
            for value in ("a\tb", "\x7f", "a\n\x07b")
        ),
        *(
            (kind, value, LINE_BREAK)
            for kind in (Code, Name, OptionalLabel)
            for value in ("a\nb", "a\r\nb", "\u2028")
        ),
        *((kind, value, BLANK) for kind in (Code, Name, OptionalLabel) for value in (" a", "a ", "a\u00a0")),
        *(
            (kind, value, f"refused: must not contain the invisible character {named}")
            for kind in (Code, OptionalLabel)
            for value, named in (("\ufeffA", "U+FEFF"), ("A\u200bB", "U+200B"), ("A\u200d", "U+200D"))
        ),
        *(
            (kind, value, value)
            for kind in (Code, OptionalLabel)
            for value in ("\U0001f469\u200d\U0001f467", "\u05d0\u200f")
        ),
        (Name, "A\u200bB", "A\u200bB"),
        (Text, " a\n\tb\u2028 ", " a\n\tb\u2028 "),
        *((Text, value, BUT_LINES) for value in ("a\x00", "\x0b", "a\rb", "\x85")),
        *((kind, "", None) for kind in (OptionalLabel, OptionalText, fields.OptionalEmail)),
        (Id, 1, 1),
        (Id, 2**53 - 1, 2**53 - 1),
        *((Id, value, NO_ID) for value in (0, -1, 2**53)),
        *((Id, value, "refused: must be a whole number") for value in (True, "1", 1.0, None)),
        (Timestamp, "2026-11-20T15:25:00.1239+02:00", "2026-11-20T13:25:00.123Z"),
        (Timestamp, "today", MOMENT),
        (Timestamp, 1, "refused: must be an ISO 8601 date and time in a string"),
        (Date, "2026-11-20", "2026-11-20"),
        *((Date, value, DATE) for value in ("2026-02-30", "", "today", 20261120, None)),
        *((Date, value, DATE) for value in ("2026-W01", "2026-W01-1", "20261120", "\u0662026-11-20")),
        *((kind, "1970-01-01", "1970-01-01") for kind in (Date, fields.DueDate)),
        (Date, "0001-01-01", "0001-01-01"),
        (fields.DueDate, "1969-12-31", "refused: must not be before 1970-01-01"),
        *((Email, value, value) for value in ("a@b", "a.b@c.example", "\u0103@b.ro")),
        *((Email, value, NO_EMAIL) for value in ("abc", "a@b.", "a b@c", "a@b@c", "@bc", "a@b..c")),
        (Email, "a@b\n", LINE_BREAK),
    ],
)
def test_each_type_takes_what_it_says(kind: Any, value: object, expected: object) -> None:
    assert taken(kind, value) == expected


class Whole(Input):
    name: Name
    size: int = 3
    parts: list[int] = Field(default_factory=list)


class Changes(Whole, partial=True):
    pass


def test_a_body_knows_what_was_given() -> None:
    assert validate_model(Whole, {"name": "A"}).given() == {"name": "A"}
    assert validate_model(Changes, {}).given() == {}
    assert validate_model(Changes, {"size": 4}).given() == {"size": 4}


def test_what_changes_a_record_needs_no_field_and_knows_no_default() -> None:
    with pytest.raises(Problem) as refused:
        validate_model(Whole, {})
    assert refused.value.errors == {"name": ["is required"]}
    assert validate_model(Changes, {}).model_dump() == {"name": None, "size": None, "parts": None}
    assert (validate_model(Whole, {"name": "A"}).size, validate_model(Whole, {"name": "A"}).parts) == (3, [])
    shown = Changes.model_json_schema()
    assert "required" not in shown
    assert not [name for name, field in shown["properties"].items() if "default" in field]
    assert Whole.model_json_schema()["properties"]["size"]["default"] == 3


def test_what_is_made_while_the_program_runs_is_the_same() -> None:
    class Other(Input):
        name: Name

    class OtherChanges(Other, partial=True):
        pass

    assert Other.model_fields["name"].is_required()
    assert not OtherChanges.model_fields["name"].is_required()
    assert "default" not in OtherChanges.model_json_schema()["properties"]["name"]


def test_a_refusal_shows_its_sentence_as_it_is() -> None:
    refused = fields.validation_error("must be {odd}")
    assert (refused.type, refused.message(), refused.context) == (
        "sentence",
        "must be {odd}",
        {"sentence": "must be {odd}"},
    )


def test_errors_are_all_its_own() -> None:
    assert Whole.own_text_errors({"name": ["is given twice"]}) == {"name": ["is given twice"]}


def _inputs(model: type[Input] = Input) -> Iterator[type[Input]]:
    for each in model.__subclasses__():
        yield each
        yield from _inputs(each)


def test_every_field_that_may_be_null_takes_null_and_an_empty_text() -> None:
    """Every nullable field accepts null and an empty text.

    A constraint on the type with `| None` applies to null too and raises TypeError, so it must be on the type
    without null.
    """
    import wmsd.interfaces.cli.main  # noqa: F401 -- so that all models are defined

    fields = [field for model in _inputs() for field in model.model_fields.values()]
    assert len(fields) > 200
    for field in fields:
        kind: Any = Annotated[field.annotation, "", *field.metadata]
        for value in (None, "", "x"):
            with suppress(ValidationError):
                TypeAdapter(kind).validate_python(value)
