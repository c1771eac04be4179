"""Checks of articles that go beyond the form of their fields. They read no data and have no side effects."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.letters import UNDECOMPOSED, composed_text
from wmsd.base.problems import invalid
from wmsd.contract.field_errors import FieldError, code_taken, external_ref_taken, invalid_field

MOST_WORDS: Final = 6
"""The maximum number of words in a search, because each word costs time. If a text has more words, the longest
words are used, because they match the fewest articles.
"""
SHORTEST_BEGINNING: Final = 2
"""The minimum length of a search word that matches the beginnings of words. A shorter search word matches only
whole words.
"""

WORD: Final = re.compile(r"\w[\w\u0300-\u036f]*")
"""A word. It may contain combining accents, because some accented letters have no single character in Unicode."""


def search_words(text: str) -> list[str]:
    """Return the different words of a search text, at most `MOST_WORDS`, the longest first.

    Replace letters such as `ø` by plain letters, as the search index does. Keep all other accents, because the
    index ignores them.
    """
    words: list[str] = WORD.findall(composed_text(text).translate(UNDECOMPOSED).replace("_", " "))
    different = {word.casefold(): word for word in words}.values()
    return sorted(different, key=len, reverse=True)[:MOST_WORDS]


@dataclass(frozen=True, slots=True)
class Holders:
    """The existing records to compare with an article before it is written.

    `of_code` is the id of the article that already has the code, or None. `of_external_ref` is the id of the
    article that already has the external_ref, or None. `client_exists` is True if the client exists.
    """

    of_code: int | None
    of_external_ref: int | None
    client_exists: bool


def reference_errors(article_id: int | None, holders: Holders) -> Iterator[FieldError]:
    """Yield an error if the code or the external_ref belongs to another article, or if the client does not exist.
    `article_id` is None for a new article.
    """
    if holders.of_code not in (None, article_id):
        yield code_taken("article", holders.of_code)
    if holders.of_external_ref is not None and holders.of_external_ref != article_id:
        yield external_ref_taken("article", holders.of_external_ref)
    if not holders.client_exists:
        yield invalid_field("client_id", "is not a client of this company")


def wanted_fields(fields: str | None, known: Iterable[str]) -> list[str] | None:
    """Return the names in the comma-separated text `fields`, and always `id`. Return None if `fields` is None.

    Raise Problem (422) if a name is not a field in `known`.
    """
    if fields is None:
        return None
    names = [name.strip() for name in fields.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(known)]
    if unknown:
        raise invalid({"fields": [f"{name} is not a field of this record" for name in unknown]})
    return ["id", *names]
