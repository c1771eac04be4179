"""The text of a record in the search index, and the queries that find it.

Case, accents and separators do not count: `fold` leaves letters and digits only, in one spelling. The text of a
record is its kind's mark and its folded fields, each between line ends, so that one query finds a whole field,
another the beginning of one, and a third any part. The index is a trigram index: a query has three characters or
more, of which a line end is one.
"""

import json
from collections.abc import Iterable
from typing import Final

from wmsd.base.letters import plain

END: Final = "\n"
SHORTEST_PART: Final = 3
"""Characters of a part of a text that the index finds."""
SHORTEST_BARCODE: Final = 8
LONGEST: Final = 64
"""Characters of what is looked for."""
MOST_WORDS: Final = 6
LONG: Final = 8
"""Characters of a text that is looked for by its end first. A long number takes the index long: its record has to
be in the list of each three characters, and most of them stand in very many numbers.
"""
ENDING: Final = 6
SEPARATORS: Final = str.maketrans(dict.fromkeys(each for each in map(chr, range(128)) if not each.isalnum()))


def fold(text: str) -> str:
    """The letters and digits of a text, without case and accents."""
    if text.isascii():
        return text.lower().translate(SEPARATORS)
    return "".join(filter(str.isalnum, plain(text)))


def folded_fields(values: Iterable[object]) -> list[str]:
    """The folded texts of the columns of a record; a JSON list has several."""
    texts = (fold(each) for value in values if value is not None for each in _texts_of(str(value)))
    return [spelled for each in texts if each for spelled in dict.fromkeys((each, _without_zeros(each)))]


def _texts_of(value: str) -> list[str]:
    """A text that only looks like a list is a text."""
    if value[:1] != "[" or value[-1:] != "]":
        return [value]
    try:
        return [str(each) for each in json.loads(value)]
    except (ValueError, RecursionError):
        return [value]


def _without_zeros(folded: str) -> str:
    """A UPC-A code is an EAN-13 and a GTIN-14 with zeros before it: scanners and lists differ in them. Shorter
    numbers are codes, and keep theirs.
    """
    is_barcode = folded.isdecimal() and len(folded) >= SHORTEST_BARCODE
    return folded.lstrip("0") or folded if is_barcode else folded


def index_text(mark: str, fields: Iterable[str]) -> str:
    """The text of a record whose kind has this mark, a letter."""
    return f"{END}{END}{mark}{END}{END.join(fields)}{END}"


def beginning_of_first(mark: str, beginning: str) -> str:
    """A query for the records of a kind whose first field begins so."""
    return phrase(f"{END}{END}{mark}{END}{beginning}")


def kind_term(mark: str) -> str:
    """The term of the index that every text of a kind has."""
    return phrase(f"{END}{END}{mark}")


def ending_of(folded: str) -> str | None:
    """A query that finds whatever has all of a long text, and more; None for a short one."""
    return phrase(folded[-ENDING:]) if len(folded) >= LONG else None


class Wanted:
    """What somebody looks for: parts of a text, those that say most first. A text is found that has all of one."""

    def __init__(self, text: str, is_exact: bool = False) -> None:
        """`is_exact`: only whole fields count."""
        self.whole: Final = _without_zeros(fold(text))
        self.letter: Final = self.whole if len(self.whole) == 1 and not is_exact else None
        """The only character, with which a code may begin: too short for the index."""
        words = dict.fromkeys(folded for each in text.split() if len(folded := fold(each)) >= SHORTEST_PART)
        words.pop(self.whole, None)
        fitting = [
            parts
            for parts in (
                [f"{END}{self.whole}{END}"],
                [f"{END}{self.whole}"],
                [self.whole],
                sorted(words, key=len, reverse=True)[:MOST_WORDS],
            )
            if self.whole and parts and all(len(each) >= SHORTEST_PART for each in parts)
        ]
        self._parts: Final = fitting[:1] if is_exact else fitting
        self.ending: Final = ending_of(self.whole)

    def queries(self) -> list[str]:
        """Queries of the index, that of the best matches first."""
        return [" AND ".join(map(phrase, parts)) for parts in self._parts]

    def has_all(self, rank: int) -> bool:
        """Whether the query with this number finds only what has all that is looked for together."""
        return self.whole in self._parts[rank][0]

    def rank(self, fields: Iterable[str]) -> int | None:
        """The number of the first query that finds a record with these folded fields; None when none does."""
        text = f"{END}{END.join(fields)}{END}"
        return next(
            (number for number, parts in enumerate(self._parts) if all(each in text for each in parts)), None
        )


def phrase(text: str) -> str:
    """A term of the index. A text has letters, digits and line ends only, so nothing needs to be escaped."""
    return f'"{text}"'
