"""What makes an article acceptable beside the form of its fields. Pure: facts come in, errors come out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from wmsd.base.problems import FieldErrors, invalid

MOST_WORDS: Final = 6
"""Of a search, since each costs what it finds: the longest, which say the most."""
SHORTEST_BEGINNING: Final = 2
"""A word of one character must stand there as it is."""


def search_words(text: str) -> list[str]:
    """The different words of a search, as many as are looked for."""
    words: list[str] = re.findall(r"\w+", text.replace("_", " "))
    different = {word.casefold(): word for word in words}.values()
    return sorted(different, key=len, reverse=True)[:MOST_WORDS]


@dataclass(frozen=True, slots=True)
class Holders:
    """Which article, if any, has the wanted code and external_ref; whether the wanted client exists."""

    of_code: int | None
    of_external_ref: int | None
    client_exists: bool


def check_references(article_id: int | None, holders: Holders) -> None:
    """Raises Problem (422) with every clash at once. `article_id` is None for a new article."""
    errors: FieldErrors = {}
    if holders.of_code not in (None, article_id):
        errors["code"] = ["is taken by another article"]
    if holders.of_external_ref not in (None, article_id):
        errors["external_ref"] = ["is taken by another article"]
    if not holders.client_exists:
        errors["client_id"] = ["is not a client of this company"]
    if errors:
        raise invalid(errors)


def wanted_fields(fields: str | None, known: Iterable[str]) -> list[str] | None:
    """The names of a sparse fieldset. Raises Problem (422) for a name that is no field."""
    if fields is None:
        return None
    names = [name.strip() for name in fields.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(known)]
    if unknown:
        raise invalid({"fields": [f"{name} is not a field of this record" for name in unknown]})
    return ["id", *names]
