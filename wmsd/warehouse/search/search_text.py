"""The text of a record in the search index, and the queries that find the record.

Case, accents and separators do not matter: `fold` keeps only letters and digits, in lower case and without
accents. The text of a record is the letter of its kind, followed by its folded fields. Each of these parts is
between line ends. A query with line ends finds a whole field or the beginning of a field. A query without line
ends finds any part of a field.

The index is a trigram index, so a query needs at least three characters. A line end counts as a character.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from wmsd.base.letters import plain

END: Final = "\n"
BEFORE_FIRST: Final = END + END
"""Marks the beginning of the first field in the text that `Wanted.rank` compares."""
SHORTEST_PART: Final = 3
"""The minimum number of characters in a query. The index cannot find a shorter part of a text."""
SHORTEST_BARCODE: Final = 8
LONGEST: Final = 64
"""The maximum length of a search text, in characters."""
MOST_WORDS: Final = 6
LONG: Final = 8
"""If a search text has at least this number of characters, wmsd first searches for its last characters. A query
for a whole long number is slow: for every three characters, SQLite reads a list of records, and most of these
lists are long.
"""
ENDING: Final = 6
SEPARATORS: Final = str.maketrans(dict.fromkeys(each for each in map(chr, range(128)) if not each.isalnum()))


def fold(text: str) -> str:
    """Return the letters and digits of a text, without case and accents."""
    if text.isascii():
        return text.lower().translate(SEPARATORS)
    return "".join(filter(str.isalnum, plain(text)))


def folded_fields(values: Iterable[object]) -> list[str]:
    """Return the values of a record's columns in the form of `fold`. A JSON list gives one text for each item. A
    long number with leading zeros gives two texts: one with the zeros, and one without them.
    """
    texts = (fold(each) for value in values if value is not None for each in _texts_of(str(value)))
    return [spelled for each in texts if each for spelled in dict.fromkeys((each, _without_zeros(each)))]


def _texts_of(value: str) -> list[str]:
    """Return the items if the text is a JSON list. Otherwise return only the text itself."""
    if value[:1] != "[" or value[-1:] != "]":
        return [value]
    try:
        return [str(each) for each in json.loads(value)]
    except (ValueError, RecursionError):
        return [value]


def _without_zeros(folded: str) -> str:
    """Return the text without leading zeros if it can be a barcode. Otherwise return it unchanged.

    A UPC-A code is the same as an EAN-13 or GTIN-14 code without its leading zeros. Some scanners and lists write
    these zeros, and others do not. A number of fewer than 8 digits is no such barcode, and keeps its zeros.
    """
    is_barcode = folded.isdecimal() and len(folded) >= SHORTEST_BARCODE
    return folded.lstrip("0") or folded if is_barcode else folded


def index_text(mark: str, fields: Iterable[str]) -> str:
    """Return the text of a record for the index. `mark` is the letter of its kind, and `fields` are its folded
    fields.
    """
    return f"{END}{END}{mark}{END}{END.join(fields)}{END}"


def beginning_of_first(mark: str, beginning: str) -> str:
    """Return a query for the records of a kind whose first field begins with `beginning`.

    Fields have no capital letters, so a capital letter and a line end are always the mark of the kind.
    """
    return phrase(f"{mark}{END}{beginning}")


def kind_term(mark: str) -> str:
    """Return a query that finds all records of a kind. `mark` is the letter of the kind."""
    return phrase(f"{END}{END}{mark}")


def of_kinds(marks: Iterable[str]) -> str:
    """Return a query that finds all records of the kinds with these marks."""
    return " OR ".join(map(kind_term, marks))


def ending_of(folded: str) -> str | None:
    """Return a query for the last characters of a long text. Return None if the text is short.

    The query finds all records that contain `folded`. It may find other records too.
    """
    return phrase(folded[-ENDING:]) if len(folded) >= LONG else None


class Wanted:
    """A search text, and the index queries for it. The query for the best matches comes first.

    Each query is a list of parts. A query finds the records whose text contains all parts of the query. For a
    search text of a single character, there are only two queries. The first finds the records with a field that
    equals the character. The second finds the records whose first field begins with the character, because the
    index cannot find a single character anywhere else.
    """

    def __init__(self, text: str, is_exact: bool = False) -> None:
        """Create the queries for the search text. With `is_exact`, only find records with a field that equals the
        search text.
        """
        self.whole: Final = _without_zeros(fold(text))
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
        if len(self.whole) == 1:
            fitting.append([f"{BEFORE_FIRST}{self.whole}"])
        self._parts: Final = fitting[:1] if is_exact else fitting
        self.ending: Final = ending_of(self.whole)

    def queries(self, marks: Sequence[str]) -> list[str]:
        """Return the queries of the index, starting with the query for the best matches. They find records of the
        kinds with these marks.
        """
        return [self._query(parts, marks) for parts in self._parts] if marks else []

    def _query(self, parts: Sequence[str], marks: Sequence[str]) -> str:
        if parts[0].startswith(BEFORE_FIRST):
            return " OR ".join(beginning_of_first(mark, self.whole) for mark in marks)
        return f"({of_kinds(marks)}) AND {' AND '.join(map(phrase, parts))}"

    def has_all(self, rank: int) -> bool:
        """Return True if the query with the number `rank` searches for the whole search text."""
        return self.whole in self._parts[rank][0]

    def rank(self, fields: Iterable[str]) -> int | None:
        """Return the number of the first query that finds a record with these fields. Return None if no query
        finds it.

        The fields are in lower case, and without accents and separators (see `fold`).
        """
        text = f"{BEFORE_FIRST}{END.join(fields)}{END}"
        return next(
            (number for number, parts in enumerate(self._parts) if all(each in text for each in parts)), None
        )


def phrase(text: str) -> str:
    """Return the text as a part of a query. Its characters need no escaping, because they are only letters, digits
    and line ends.
    """
    return f'"{text}"'
