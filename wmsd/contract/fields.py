"""The field types of all records, and the base classes of the models: `Input` for bodies, `Recorded` for records.

A field is declared once, in the `schema.py` of its package. The field's type determines how values are checked,
the error sentence, the JSON schema and the SQL that renders the field. Error sentences begin with "must", and are
displayed after the field's name: "quantity must be …".
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from wmsd.base import email_addresses, quantity, time_zones, timestamps
from wmsd.base.problems import FieldErrors
from wmsd.base.strict_json import MOST_FIELDS

MAX_ID: Final = 2**53 - 1
"""The largest integer that every JSON reader stores exactly."""
LONGEST_NAME_SHOWN: Final = 60
FIRST_DAY: Final = "1970-01-01"
"""The earliest date of a document. An earlier date is a typing error, such as a year of two digits. A document
with such a date would come first in every list of late documents.
"""

CHOICE: Final = "x-choice"
"""The key under which a JSON schema stores the name of the field's enumeration."""


def choice_of(name: str, values: Iterable[str]) -> WithJsonSchema:
    """Return the JSON schema of a text field that accepts only `values`.

    `name` is the name of the enumeration in the descriptions of the API.
    """
    return WithJsonSchema({"type": "string", "enum": list(values), CHOICE: name})


def validation_error(sentence: str) -> PydanticCustomError:
    """Return the error that a validator raises. The answer of the API contains `sentence` unchanged."""
    return PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})


def not_among(given: str, choices: str) -> PydanticCustomError:
    """Return the error which says that `given` is not an allowed name. `choices` is a text with all allowed names.

    The sentence contains `given` before `choices`, because long sentences are cut at the end.
    """
    shown = given if len(given) <= LONGEST_NAME_SHOWN else f"{given[:LONGEST_NAME_SHOWN]}…"
    return validation_error(f"cannot be {shown!r}, only {choices}")


class Decimals:
    """A mark for fields that are stored as integers of millionths and sent as decimal JSON numbers."""


class Named:
    """A mark for short texts that are compared exactly, such as a code or a barcode."""


class Dates:
    """A mark for texts that contain a date."""


class Moments:
    """A mark for texts that contain a date and time."""


class Sealed:
    """A mark for fields with a credential. Callers can send the credential, but no answer contains it."""


class SentBack:
    """A mark for fields that only wmsd sets. A client may send back such a field in a body, but wmsd ignores its
    value.
    """


def _decimal(minimum: int, strictly: bool) -> BeforeValidator:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise validation_error("must be a number")
        try:
            millionths = quantity.from_decimal(value)
        except ValueError as error:
            raise validation_error(str(error)) from None
        if strictly and millionths <= minimum:
            raise validation_error("must be greater than 0")
        if millionths < minimum:
            raise validation_error("must not be below 0")
        return millionths

    return BeforeValidator(check)


_NUMBER_LIMITS: dict[str, Any] = {"type": "number", "maximum": 999999999.999999}

Quantity = Annotated[
    int, _decimal(0, strictly=True), Decimals, WithJsonSchema({**_NUMBER_LIMITS, "exclusiveMinimum": 0})
]
"""An ordered or moved quantity in millionths: greater than 0, at most 6 decimal places."""

Amount = Annotated[int, _decimal(0, strictly=False), Decimals, WithJsonSchema({**_NUMBER_LIMITS, "minimum": 0})]
"""A balance or a measure in millionths: 0 or more."""

SignedAmount = Annotated[
    int,
    _decimal(-quantity.MAXIMUM, strictly=False),
    Decimals,
    WithJsonSchema({**_NUMBER_LIMITS, "minimum": -999999999.999999}),
]
"""A balance or a change in millionths, which may be below 0."""


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


_LINE_BREAK = re.compile(r"[\r\n\u2028\u2029]")


def _no_control(value: str) -> str:
    found = _CONTROL.search(value)
    if found is None:
        return value
    if all(_LINE_BREAK.match(each) for each in _CONTROL.findall(value)):
        raise validation_error("must not contain a line break")
    raise validation_error("must not contain control characters")


def _no_control_but_lines(value: str) -> str:
    if _CONTROL_BUT_LINES.search(value):
        raise validation_error("must not contain control characters other than line breaks and tabs")
    return value


_INVISIBLE = re.compile(
    r"[\u00ad\u180e\u200b\u2060-\u2064\ufeff]|(?<![^\x00-\x7f])[\u200c-\u200f](?![^\x00-\x7f])"
)
"""The invisible characters that are refused. Joiners and direction marks are allowed next to non-ASCII characters,
because other scripts and emoji need them.
"""


def _visible(value: str) -> str:
    if (found := _INVISIBLE.search(value)) is not None:
        raise validation_error(f"must not contain the invisible character U+{ord(found[0]):04X}")
    return value


def _trimmed(value: str) -> str:
    if value != value.strip():
        raise validation_error("must not begin or end with a space")
    return value


Code = Annotated[
    str,
    Field(min_length=1, max_length=64),
    AfterValidator(_no_control),
    AfterValidator(_trimmed),
    AfterValidator(_visible),
    Named,
]
Name = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_no_control), AfterValidator(_trimmed)]
Label = Annotated[
    str,
    Field(min_length=1, max_length=64),
    AfterValidator(_no_control),
    AfterValidator(_trimmed),
    AfterValidator(_visible),
    Named,
]
Text = Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(_no_control_but_lines)]

EmptyIsNull = BeforeValidator(lambda value: None if value == "" else value)
"""A validator that replaces an empty text with None, so that an empty field of a form or of a CSV file means null.
"""


def _time_zone(value: str) -> str:
    try:
        return time_zones.check_name(value)
    except time_zones.TimeZoneError as error:
        raise validation_error(str(error)) from None


TimeZone = Annotated[
    str,
    Field(min_length=1, max_length=time_zones.LONGEST_NAME, examples=["Europe/Bucharest"]),
    AfterValidator(_time_zone),
]
"""The name of a time zone of the tz database."""

OptionalLabel = Annotated[Label | None, EmptyIsNull]
Serials = Annotated[list[Label], Field(max_length=10_000, fail_fast=True)]
"""The serials of one line. Only the first error is reported, because a body may contain some hundred thousand
serials.
"""
OptionalText = Annotated[Text | None, EmptyIsNull]


def _id(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise validation_error("must be a whole number")
    if not 1 <= value <= MAX_ID:
        raise validation_error("must be a positive id")
    return value


Id = Annotated[int, BeforeValidator(_id), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_ID})]


def _timestamp(value: object) -> str:
    if not isinstance(value, str):
        raise validation_error("must be an ISO 8601 date and time in a string")
    try:
        return timestamps.to_text(timestamps.from_text(value))
    except ValueError as error:
        raise validation_error(str(error)) from None


Timestamp = Annotated[
    str, BeforeValidator(_timestamp), Moments, WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A date and time. Callers may use any offset. wmsd stores and returns UTC with milliseconds and `Z`."""


def _date(value: object) -> str:
    try:
        return timestamps.day_of(value).isoformat() if isinstance(value, str) else _no_date()
    except ValueError:
        return _no_date()


def _no_date() -> str:
    raise validation_error("must be a date such as 2026-11-20")


def _recent(day: str) -> str:
    if day < FIRST_DAY:
        raise validation_error(f"must not be before {FIRST_DAY}")
    return day


Date = Annotated[str, BeforeValidator(_date), Dates, WithJsonSchema({"type": "string", "format": "date"})]
DueDate = Annotated[Date, AfterValidator(_recent)]
"""The due date of a document, from 1970 on. Filters accept any date."""


def _email(value: str) -> str:
    if not email_addresses.ADDRESS.fullmatch(value):
        raise validation_error(email_addresses.INVALID)
    return value


def _mailbox(value: str) -> str:
    try:
        return email_addresses.check_mailbox(value)
    except ValueError as error:
        raise validation_error(str(error)) from None


Email = Annotated[
    str,
    Field(min_length=3, max_length=email_addresses.LONGEST),
    AfterValidator(_no_control),
    AfterValidator(_email),
]
OptionalEmail = Annotated[Email | None, EmptyIsNull]
Mailbox = Annotated[Email, AfterValidator(_mailbox)]
"""The e-mail address of a user, converted to one form, so that all spellings of a mailbox become the same text."""


class Model(BaseModel):
    """A model whose schema pydantic builds at the first use.

    wmsd needs few models when it starts. Building all of them took a tenth of the start time.
    """

    model_config = ConfigDict(defer_build=True)

    ONLY_WHEN_ASKED: ClassVar[frozenset[str]] = frozenset()
    """Fields that are in an answer only if a query parameter requests them."""


class Input(Model):
    """The body of a request. Unknown fields are refused by name, and types are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    MOST_FIELDS: ClassVar[int] = MOST_FIELDS
    """The maximum number of fields in a body, counted over all objects."""

    def __init_subclass__(cls, partial: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)

    @classmethod
    def __pydantic_init_subclass__(cls, partial: bool = False, **options: Any) -> None:
        """Make every inherited field optional if `partial` is True. Such a model is the body of a PATCH."""
        super().__pydantic_init_subclass__(**options)
        if partial:
            for field in cls.model_fields.values():
                field.default, field.default_factory = None, None
                field.json_schema_extra = _without_default

    @classmethod
    def own_text_errors(cls, text_errors: FieldErrors) -> FieldErrors:
        """Return the errors that the answer to this request reports: by default, all `text_errors`. These are the
        errors that the JSON parser has found in the body.

        If a body contains the bodies of several requests, its class overrides this method, and leaves out the
        errors inside these inner bodies. Each inner request reports them itself.
        """
        return text_errors

    def given(self) -> dict[str, object]:
        """Return the fields that the caller sent, with their values."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class Recorded(Model):
    """The fields that every record has in addition to the fields of its kind."""

    READ_ONLY: ClassVar[frozenset[str]] = frozenset({"id", "created_at", "updated_at"})
    """Fields that no caller can set, but that a body may contain. So a client can send back a record exactly as it
    received the record.
    """

    id: Id
    created_at: Timestamp
    updated_at: Timestamp
