"""Errors in the fields of a request, such as the id of an unknown article or partner.

All errors of a request are reported together. The error codes are those of section 7 of the specification.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem, by_path, message_of

MESSAGES: Final[Mapping[str, str | None]] = {
    "EXTERNAL_REF_TAKEN": "A record with this external_ref exists already: its id is in details.",
    "INVALID_STATUS": "The status of the order does not allow this.",
    "INVALID_PARTNER": "The partner is not valid.",
    "INVALID_WAREHOUSE": "A warehouse is not valid.",
    "INVALID_ARTICLE": "An article is not valid.",
    "VALIDATION_FAILED": None,
    "INSUFFICIENT_STOCK": "There is not enough stock; nothing was reserved.",
}
"""The message for each error code. For a code with None, the message says how many fields are not valid.

An answer has only one code. If its errors have different codes, the answer gets the code that comes first here.
EXTERNAL_REF_TAKEN comes first. So a client that sends an order twice learns that the order exists, and not that
stock is missing.
"""


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error with its code, its field path and its sentence. `details` are further values that programs can
    read.
    """

    code: str
    path: str
    sentence: str
    details: Mapping[str, object] | None = None
    for_readers: Mapping[str, object] | None = None
    """Further details, which only callers who may read the operation's records receive."""


def invalid_field(path: str, sentence: str) -> FieldError:
    """Return the error of a field with the general code VALIDATION_FAILED."""
    return FieldError("VALIDATION_FAILED", path, sentence)


def external_ref_taken(noun: str, holder: int) -> FieldError:
    """Return the error for an external_ref that the record with the id `holder` already has."""
    return FieldError("EXTERNAL_REF_TAKEN", "external_ref", f"is taken by another {noun}", {"id": holder})


def code_taken(noun: str, holder: int | None) -> FieldError:
    """Return the error for a code that the record with the id `holder` already has."""
    sentence = f"is taken by another {noun}"
    return FieldError("VALIDATION_FAILED", "code", sentence, for_readers={"code_taken_by": holder})


def refuse_field_errors(field_errors: Iterable[FieldError]) -> None:
    """Raise Problem with all errors if there are any.

    The HTTP status is 409 if the problem's code is INVALID_STATUS, else 422.
    """
    if found := list(field_errors):
        raise problem_of(found)


def problem_of(found: Sequence[FieldError]) -> Problem:
    """Return the problem that reports the errors in `found`. There must be at least one error."""
    errors = by_path((each.path, each.sentence) for each in found)
    first = next(each for code in MESSAGES for each in found if each.code == code)
    return Problem(
        first.code,
        MESSAGES[first.code] or message_of(errors),
        errors=errors,
        details=first.details,
        for_readers=next((each.for_readers for each in found if each.for_readers), None),
    )
