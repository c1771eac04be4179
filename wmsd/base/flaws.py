"""What is wrong with what a document refers to: the error codes of section 7 of the specification, all at once."""

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
"""What each code says. An answer has one code: of several kinds of flaws, the first of these."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong, where, and under which code."""

    code: str
    path: str
    sentence: str


def refuse_flaws(flaws: Iterable[Flaw]) -> None:
    """Raises Problem (422) with every flaw, when there is one."""
    errors: FieldErrors = {}
    codes = set()
    for flaw in flaws:
        errors.setdefault(flaw.path, []).append(flaw.sentence)
        codes.add(flaw.code)
    if errors:
        code = next(code for code in MESSAGES if code in codes)
        raise Problem(code, MESSAGES[code], errors=errors)
