"""The error contract: every error code that a caller can get, and the exception that carries it.

Specification section 7; decisions section 7.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

Value = TypeVar("Value")
STATUS_OF_CODE: Final[Mapping[str, int]] = {
    "UNAUTHORIZED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "REQUEST_TIMEOUT": 408,
    "INVALID_STATUS": 409,
    "PRECONDITION_FAILED": 412,
    "VALIDATION_FAILED": 422,
    "COMPANY_REQUIRED": 422,
    "INSUFFICIENT_STOCK": 422,
    "INVALID_PARTNER": 422,
    "INVALID_WAREHOUSE": 422,
    "INVALID_ARTICLE": 422,
    "EXTERNAL_REF_TAKEN": 422,
    "IDEMPOTENCY_KEY_REUSED": 422,
    "RATE_LIMIT_EXCEEDED": 429,
    "SERVER_ERROR": 500,
    "SERVICE_UNAVAILABLE": 503,
    "OUTCOME_UNKNOWN": 503,
    "STORAGE_FULL": 507,
}

FieldErrors = dict[str, list[str]]
"""The error sentences by field path (`lines.0.quantity`). The path "" means the whole body."""
MOST_LISTED: Final = 100
"""The maximum number of errors in one answer."""
LONGEST_PATH: Final = 200
LONGEST_SENTENCE: Final = 500


class Problem(Exception):
    """An error that is reported to the caller; any other exception becomes a 500."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        errors: FieldErrors | None = None,
        details: Mapping[str, object] | None = None,
        for_readers: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Create a problem. `status` is the HTTP status, by default the status of `code` in `STATUS_OF_CODE`.

        `details` are sent to every caller. `for_readers` are further details, which only callers with read access
        to the records receive.
        """
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status or STATUS_OF_CODE[code]
        self.errors = _first_of(errors) if errors else {}
        self.details = details
        self.for_readers = for_readers
        self.headers = dict(headers or {})

    def body(self) -> dict[str, object]:
        """Return the JSON object of the answer: message and code, with errors and details if there are any."""
        body: dict[str, object] = {"message": self.message, "code": self.code}
        if self.errors:
            body["errors"] = self.errors
        if self.details is not None:
            body["details"] = self.details
        return body


def not_found(what: str, meant: str | None = None) -> Problem:
    """Return the problem for an unknown record. `what` is its kind, such as "article". `meant` is the most similar
    known code, if there is one.

    The answer is the same for a record of another company and for a record that never existed.
    """
    listed = f"There is no such {what}."
    return Problem("NOT_FOUND", listed if meant is None else f"{listed} Did you mean {meant}?")


def or_not_found(value: Value | None, what: str) -> Value:
    """Return the value. Raise Problem (404) if the value is None."""
    if value is None:
        raise not_found(what)
    return value


def _first_of(errors: FieldErrors) -> FieldErrors:
    """Return the first `MOST_LISTED` errors. Say under the path "" how many errors are not listed. A body may
    contain any number of errors, so the list is limited.
    """
    listed: FieldErrors = {}
    room = MOST_LISTED
    for path, sentences in errors.items():
        if room <= 0:
            break
        shown = [_cut(sentence, LONGEST_SENTENCE) for sentence in sentences[:room]]
        listed.setdefault(_cut(path, LONGEST_PATH), []).extend(shown)
        room -= len(shown)
    left = sum(map(len, errors.values())) - MOST_LISTED
    if left > 0:
        one = "has at least one more error, which is not listed"
        listed.setdefault("", []).append(
            one if left == 1 else f"has at least {left} more errors, which are not listed"
        )
    return listed


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def by_path(found: Iterable[tuple[str, str]]) -> FieldErrors:
    """Group the error sentences by path. Each item of `found` is a pair (path, sentence)."""
    errors: FieldErrors = {}
    for path, sentence in found:
        errors.setdefault(path, []).append(sentence)
    return errors


def invalid(errors: FieldErrors) -> Problem:
    return Problem("VALIDATION_FAILED", message_of(errors), errors=errors)


def refuse_errors(errors: FieldErrors) -> None:
    """Raise Problem (422) with the errors, if there are any."""
    if errors:
        raise invalid(errors)


def message_of(errors: FieldErrors) -> str:
    """Return the message of a VALIDATION_FAILED answer."""
    count = sum(len(sentences) for sentences in errors.values())
    return "One field is not valid." if count == 1 else f"{count} fields are not valid."


def forbidden(message: str) -> Problem:
    return Problem("FORBIDDEN", message)


def unavailable(message: str, retry_after: int = 5) -> Problem:
    return Problem("SERVICE_UNAVAILABLE", message, headers={"Retry-After": str(retry_after)})
