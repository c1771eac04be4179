"""The reason of a refusal in a sentence. `refusal_remedies.py` says what to do about it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, field
from typing import Any, Final, Literal

from wmsd.base.dataclass import dataclass

MOST_FIELDS: Final = 3
"""How many fields with errors a sentence names, at most."""
LONGEST: Final = 500


Lack = tuple[Literal["ability", "module"], str]
"""What the caller or the company lacks: an ability or a module, and its name."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response. It also has the operation, and the missing ability or module, if the server knew them."""

    status: int
    code: str
    message: str
    errors: Mapping[str, list[str]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    retry_after: str | None = None
    limit: str | None = None
    noun: str = ""
    """The tag of the operation."""
    summary: str = ""
    """The summary of the operation."""
    lack: Lack | None = None
    is_part: bool = False
    """True if only a part of a batch or of a document was refused."""

    def kept(self) -> dict[str, Any]:
        """Return the fields to store with the request. `errors` is stored as an empty dict, because the advice
        does not need the errors.
        """
        return {**asdict(self), "errors": {}}


def why(refusal: Refusal) -> str:
    said = refusal.message if refusal.is_part else WHY.get(refusal.code, _as_answered)(refusal)
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def _as_answered(refusal: Refusal) -> str:
    """Return the message of the error response. If fields have errors, add the errors of the first fields."""
    wrong = [f"{path or 'the body'} {sentences[0]}" for path, sentences in refusal.errors.items() if sentences]
    if not wrong:
        return refusal.message
    more = len(wrong) - MOST_FIELDS
    others = f"; and {more} more" if more > 0 else ""
    return f"{refusal.message.removesuffix('.')}: {'; '.join(wrong[:MOST_FIELDS])}{others}."


def _forbidden(refusal: Refusal) -> str:
    match refusal.lack:
        case ["ability", name]:
            return f"The token lacks the ability {name}, which this operation needs."
        case ["module", name]:
            return f"The module {name} was off for the company."
    return refusal.message


def _limited(refusal: Refusal) -> str:
    if refusal.limit is None or refusal.retry_after is None:
        return refusal.message
    return (
        f"The limit of {refusal.limit} requests a minute was reached; the next request was possible "
        f"{refusal.retry_after} s later."
    )


def _status(refusal: Refusal) -> str:
    details = refusal.details
    current, requested, allowed = (details.get(name) for name in ("current", "requested", "allowed"))
    if not current:
        return _as_answered(refusal)
    possible = _possible(*allowed) if allowed else "no change of status is possible"
    if requested:
        return f"The status was {current}, and the request asked for {requested}; {possible}."
    return f"{_as_answered(refusal)} The status was {current}; {possible}."


def _possible(*allowed: str) -> str:
    before, last = ", ".join(allowed[:-1]), allowed[-1]
    return f"only {before} or {last} are possible" if before else f"only {last} is possible"


def _precondition(_: Refusal) -> str:
    return "The record was changed after it was read: If-Match names an old version."


def _key(refusal: Refusal) -> str:
    made = refusal.details.get("id")
    first = "" if made is None else f" The first request created the record {made}."
    return f"The Idempotency-Key was used before with another body, so nothing was done.{first}"


WHY: Final[Mapping[str, Callable[[Refusal], str]]] = {
    "FORBIDDEN": _forbidden,
    "RATE_LIMIT_EXCEEDED": _limited,
    "INVALID_STATUS": _status,
    "PRECONDITION_FAILED": _precondition,
    "IDEMPOTENCY_KEY_REUSED": _key,
}
"""The functions that return the reason of a refusal, by error code. For other codes, `_as_answered` returns it."""
