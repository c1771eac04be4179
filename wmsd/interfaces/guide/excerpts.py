"""Makes excerpts of texts that a search has found, and marks the words that match the query.

A query may match half of all words, and a text may have thousands of words. Therefore the work for each word is
kept small.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence, Set
from itertools import chain, pairwise, repeat
from sys import maxsize
from typing import Final

from markupsafe import Markup, escape

EXCERPT: Final = 240
"""The length of an excerpt, in characters."""
BEFORE: Final = 60
"""The number of characters in an excerpt before its first marked word."""
SHOWN: Final = EXCERPT - BEFORE
"""The number of characters from the first marked word of an excerpt to the excerpt's end."""
WORD: Final = re.compile(r"\w+(?:[.:/_-]+\w+)*")
"""A pattern for words. A name such as `sales_order.created`, `X-Request-Id` or `wmsd-1` counts as one word. Its
parts can also be found.
"""
BETWEEN: Final = "\0"
"""A separator that no text of the guide contains."""


Pieces = Sequence[str]
"""A text in pieces. Unmarked and marked pieces alternate. The first and the last piece are unmarked.

A piece may be empty.
"""


class Text:
    """A text with an index of its words, so that a search need not read the text.

    Each different word has a number, which is the same in all texts. The methods take these numbers.
    """

    __slots__ = ("_ends", "_of_words", "_starts", "text")

    def __init__(self, text: str, numbered: dict[str, int]) -> None:
        """Index the text. `numbered` maps all known words to their numbers. New words of the text are added to
        `numbered`.
        """
        self.text = text
        found = list(WORD.finditer(text))
        self._starts = array("I", (each.start() for each in found))
        self._ends = array("I", (each.end() for each in found))
        places: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(found):
            places[numbered.setdefault(each[0], len(numbered))].append(place)
        self._of_words = {word: tuple(each) for word, each in places.items()}
        """The positions of each word in the list of this text's words. The key is the number of the word."""

    def whole(self, meant: Set[int]) -> Pieces:
        """Return the whole text. The words whose numbers are in `meant` are marked."""
        return self._pieces(self._places(meant), 0, len(self.text))

    def excerpt(self, meant: Set[int]) -> Pieces:
        """Return the part of the text that has the most words from `meant`, with these words marked."""
        places = self._places(meant)
        begin = self._begin(places)
        end = min(begin + EXCERPT, len(self.text))
        if end < len(self.text):
            end = max(self.text.rfind(" ", begin, end), begin + EXCERPT // 2)
        pieces = self._pieces(places, begin, end)
        if begin > 0:
            pieces[0] = f"… {pieces[0]}"
        if end < len(self.text):
            pieces[-1] = f"{pieces[-1]} …"
        return pieces

    def _places(self, meant: Set[int]) -> Sequence[int]:
        """Return the positions of the words from `meant` in the list of this text's words."""
        return sorted(chain.from_iterable(map(self._of_words.__getitem__, self._of_words.keys() & meant)))

    def _begin(self, places: Sequence[int]) -> int:
        """Return the character position at which the excerpt begins. It is chosen so that the excerpt has as many
        of the words at `places` as possible.
        """
        if not places or len(self.text) <= EXCERPT:
            return 0
        starts = [
            *map(self._starts.__getitem__, places),
            *repeat(maxsize, SHOWN),
        ]  # the padding ends the loop below; an excerpt has at most SHOWN words
        most, first = 0, 0
        for at in range(len(places)):
            while starts[at + most] < starts[at] + SHOWN:
                most, first = most + 1, starts[at]
        begin = max(first - BEFORE, 0)
        return self.text.find(" ", begin, first) + 1 or first if begin > 0 else 0

    def _pieces(self, places: Sequence[int], begin: int, end: int) -> list[str]:
        first, last = (bisect_left(places, each) for each in self._between(begin, end))
        marked = places[first:last]
        cuts = [begin, *chain.from_iterable([(self._starts[place], self._ends[place]) for place in marked]), end]
        return [self.text[at:until] for at, until in pairwise(cuts)]

    def _between(self, begin: int, end: int) -> tuple[int, int]:
        """Return which words of this text are between the character positions `begin` and `end`: the number of the
        first one, and the number after the last one.
        """
        return bisect_left(self._starts, begin), bisect_right(self._ends, end)


def as_html(pieces: Pieces) -> "Markup":
    shown = str(escape(BETWEEN.join(pieces))).split(BETWEEN)  # all pieces in one call, because each call is slow
    shown[1::2] = [f"<mark>{each}</mark>" for each in shown[1::2]]
    return Markup("".join(shown))  # noqa: S704 escaped above
