"""Errors in the references of a document, with the error codes of section 7 of the specification, all at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from wmsd.base.problems import FieldErrors, Problem

MESSAGES: Final[Mapping[str, str]] = {
    "INVALID_PARTNER": "The partner is not valid.",
    "INVALID_WAREHOUSE": "A warehouse is not valid.",
    "INVALID_ARTICLE": "An article is not valid.",
    "VALIDATION_FAILED": "The document is not valid.",
    "INSUFFICIENT_STOCK": "There is not enough stock; nothing was reserved.",
}
"""The message of each code. An answer has one code: the first of these that occurs."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error: its code, its field path and its sentence."""

    code: str
    path: str
    sentence: str


def refuse_field_errors(field_errors: Iterable[FieldError]) -> None:
    """Raises Problem (422) with every error, if there is any."""
    errors: FieldErrors = {}
    codes = set()
    for field_error in field_errors:
        errors.setdefault(field_error.path, []).append(field_error.sentence)
        codes.add(field_error.code)
    if errors:
        code = next(code for code in MESSAGES if code in codes)
        raise Problem(code, MESSAGES[code], errors=errors)
