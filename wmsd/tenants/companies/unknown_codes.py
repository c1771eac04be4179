"""Companies that users name by their codes, and suggestions for unknown codes."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Final, Protocol

from wmsd.base.letters import plain
from wmsd.base.problems import FieldErrors, invalid
from wmsd.contract.context import Company

SEPARATORS: Final = re.compile(r"[,;\s]+")
MOST_HINTS: Final = 5
"""The maximum number of hints in one response. The number is limited because each hint searches all companies."""
MOST_LOOKED_AT: Final = 1000
LONGEST_LOOKED_AT: Final = 255


class Named(Protocol):
    @property
    def code(self) -> str: ...

    @property
    def name(self) -> str: ...


def names_apart(companies: Collection[Named]) -> dict[str, str]:
    """Return a display name for each company, by code. The display name is the name of the company. If several
    companies have this name, the code follows in brackets.
    """
    numbers = Counter([each.name for each in companies])
    return {
        each.code: each.name if numbers[each.name] == 1 else f"{each.name} ({each.code})" for each in companies
    }


def codes_in(typed: Iterable[str], known: Sequence[Company]) -> list[str]:
    """Return the company codes in the typed lines.

    A line with several codes is split at commas and blanks. It is not split if the whole line is the code or the
    name of a company.
    """
    whole = {company.code for company in known}
    names = {plain(company.name) for company in known}
    codes: list[str] = []
    for text in typed:
        is_one = text in whole or plain(text) in names
        codes += [text] if is_one else [part for part in SEPARATORS.split(text) if part] or [text]
    return codes


def hints(typed: str, known: Sequence[Company], earlier: int = 0) -> list[str]:
    """Return sentences for the error about the unknown code `typed`. If `typed` is the name of a company, a
    sentence gives the code of this company. Otherwise a sentence gives the most similar code.

    `known` are the companies that the user may see. `earlier` is the number of errors before this error in the
    response. If `earlier` is at least MOST_HINTS, return no sentences.
    """
    if earlier >= MOST_HINTS:
        return []
    named, near = _meant(typed, known)
    sentences = [] if named is None else [f"use the code {named}: the company with this name has this code"]
    sentences += [] if near is None else [f"{near} is the nearest code"]
    return sentences


def errors_of_codes(
    codes: Iterable[str], known: Sequence[Company], *, sentence: Callable[[str], str], but: Container[str] = ()
) -> FieldErrors:
    """Return an error in `company_codes` for each unknown code. A code is known if it is in `but`, or if a company
    in `known` has it. `sentence` returns the error text for a code.
    """
    right = {company.code for company in known}
    wrong = [(place, code) for place, code in enumerate(codes) if code not in right and code not in but]
    return {
        f"company_codes.{place}": [sentence(code), *hints(code, known, earlier)]
        for earlier, (place, code) in enumerate(wrong)
    }


def company_named(code: str, known: Sequence[Company], field: str) -> Company:
    """Return the company in `known` with this code. If there is none, raise Problem (422). `field` is the name of
    the request's field that has the code.
    """
    found = next((company for company in known if company.code == code), None)
    if found is None:
        raise invalid({field: [f"{code} is not a company of this installation", *hints(code, known)]})
    return found


def similar_code(typed: str, known: Sequence[Named]) -> str | None:
    """Return the code of the company whose name was typed, or else the code that is most similar to `typed`.
    Return None if there is neither.
    """
    named, near = _meant(typed, known)
    return named or near


def _meant(typed: str, known: Sequence[Named]) -> tuple[str | None, str | None]:
    """Return two codes, at most one of which is not None. If `typed` is the name of a company, the first is the
    code of this company. Otherwise the second is the most similar code, if any.
    """
    if len(typed) > LONGEST_LOOKED_AT:
        return None, None
    looked_at, meant = known[:MOST_LOOKED_AT], plain(typed)
    named = next((each.code for each in looked_at if plain(each.name) == meant), None)
    codes = {plain(each.code): each.code for each in looked_at}
    near = [] if named else difflib.get_close_matches(meant, codes, n=1)
    return named, codes[near[0]] if near else None
