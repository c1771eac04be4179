"""The search of the guide. It finds words and beginnings of words, with an index in memory.

Visitors need no sign-in, so every query must be cheap. A search uses only the first characters and words of a
query, and looks only at the words of the index. The work for each word and each entry is done in advance, or by
functions written in C.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from heapq import nsmallest
from itertools import chain, islice, repeat
from math import log
from operator import add, mul, neg, truediv
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.letters import composed_text, plain
from wmsd.interfaces.guide.excerpts import WORD, Pieces, Text

LONGEST_QUERY: Final = 200
MOST_WORDS: Final = 8
SHORTEST_BEGINNING: Final = 2
"""The minimum length of a beginning that finds longer words, in characters. A single character finds only whole
words.
"""
MOST_FOUND: Final = 20
MOST_MERGED: Final = 250
"""The maximum number of matches whose scores a search combines for the beginning of a word. A match is a word in
an entry. For a beginning with more matches, the combined scores are computed in advance.
"""
LAST_CHARACTER: Final = chr(sys.maxunicode)
"""A character that no word contains. `beginning + LAST_CHARACTER` sorts after all words with this beginning."""
MOST_REMEMBERED: Final = 20_000
"""The maximum number of cached words: several times the number of words in the guide."""
PART: Final = re.compile(r"[^\W_]+")
IN_HEADING: Final = 6.0
IN_TITLE: Final = 2.0
MOST_IN_TEXT: Final = 2.0
FOR_A_BEGINNING: Final = 0.5
FOR_THE_HEADING: Final = 40.0
FOR_ALMOST_THE_HEADING: Final = 30.0
"""The score of an entry whose heading differs from the query only by a plural `s`.

It is lower than the score of an equal heading: the query `log.file` finds `log.file` before `log.files`.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A section of the guide, or a row of a table in the guide."""

    page: str
    """The title of the page."""
    address: str
    heading: str
    text: str
    weight: float = 1.0


class Found(NamedTuple):
    entry: Entry
    heading: Pieces
    excerpt: Pieces


@dataclass(frozen=True, slots=True)
class Results:
    query: str
    total: int
    """The number of all entries that match the query."""
    found: Sequence[Found]
    """The matching entries with the best scores."""
    has_all_words: bool
    """True if each found entry has all words of the query; False if each has only some of the words."""


class Place(NamedTuple):
    """An entry, prepared for searches."""

    entry: Entry
    text: Text
    heading: Text

    def found(self, meant: Set[int]) -> Found:
        return Found(self.entry, self.heading.whole(meant), self.text.excerpt(meant))


class Word(NamedTuple):
    """A word of the query, and the parts of this word. All are normalized: plain lower-case letters, without a
    plural `s`.
    """

    whole: str
    parts: Sequence[str]


class Scores(NamedTuple):
    """The scores of all entries for a word, or for the beginning of a word."""

    places: set[int]
    """The indexes of the entries that have the word."""
    of: Sequence[float]
    """The score of every entry. The score is 0 if the entry does not have the word."""


class Index:
    def __init__(self, entries: Iterable[Entry]) -> None:
        numbered: dict[str, int] = {}
        self._entries = tuple(
            Place(each, Text(each.text, numbered), Text(each.heading, numbered)) for each in entries
        )
        self._lengths = [1 + log(1 + len(each.text.text) / 500) for each in self._entries]
        """For each entry, a number by which its score is divided. The number is larger for a longer text."""
        self._factors = [each.entry.weight for each in self._entries]
        places: dict[str, dict[int, float]] = defaultdict(dict)
        self._headed: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """For each normalized heading without a plural `s`: the indexes of the entries with this heading, each
        with the entry's normalized heading.
        """
        for place, found in enumerate(self._entries):
            for word, weight in _weights(found.entry).items():
                places[word][place] = weight
            heading = plain(found.entry.heading)
            self._headed[_stem(heading)].append((place, heading))
        self._words = sorted(places)
        self._places: Sequence[Mapping[int, float]] = [places[word] for word in self._words]
        """For each normalized word: the weight of the word in each entry that has it, by the index of the entry.
        """
        spelled: dict[str, list[int]] = defaultdict(list)
        for word, number in numbered.items():
            for part in _of_the_guide(word):
                spelled[part].append(number)
        self._spelled: Sequence[Sequence[int]] = [spelled.get(word, ()) for word in self._words]
        """For each normalized word: the numbers of all words in the guide's texts that equal this word or have it
        as a part.
        """
        self._merged = {each: self._merge(each) for each in self._frequent()}

    def search(self, text: str) -> Results:
        query = " ".join(text[:LONGEST_QUERY].split())
        typed = map(_read, islice(dict.fromkeys(WORD.findall(composed_text(query))), MOST_WORDS))
        words = [*islice(chain.from_iterable(map(self._looked_for, typed)), MOST_WORDS)]
        asked = [self._begun(each.whole) for each in words]
        if not asked:
            return Results(query, 0, (), False)
        everywhere = set.intersection(*(each.places for each in asked))
        places = everywhere or set.union(*(each.places for each in asked))
        scores = map(neg, self._scores(places, asked, plain(query)))
        best = nsmallest(MOST_FOUND, zip(scores, places, strict=True))
        meant = self._meant(words)
        found = [self._entries[place].found(meant) for _, place in best]
        return Results(query, len(places), found, bool(everywhere))

    def _meant(self, words: Iterable[Word]) -> set[int]:
        """Return the numbers of the words in the guide that the query matches.

        A word of the guide matches if it, or one of its parts, begins with a query word or with a part of a query
        word.
        """
        beginnings = {each for word in words for each in (word.whole, *word.parts)}
        found = map(self._spelled.__getitem__, map(self._beginning_with, beginnings))
        return {*chain.from_iterable(chain.from_iterable(found))}

    def _looked_for(self, word: Word) -> Iterator[Word]:
        """Yield `word` if it has only one part, or if a word of the guide begins with it. Otherwise yield each
        part of `word` as a separate word.
        """
        if len(word.parts) < 2 or self._words[self._beginning_with(word.whole)]:
            yield word
        else:
            yield from (Word(part, ()) for part in word.parts)

    def _begun(self, beginning: str) -> Scores:
        """Return the scores for a word's beginning, from the cache or computed now."""
        merged = self._merged.get(beginning)
        return self._merge(beginning) if merged is None else merged

    def _merge(self, beginning: str) -> Scores:
        """Compute the score of each entry for this beginning. If an entry has several words with this beginning,
        the word with the best score counts.
        """
        best = [0.0] * len(self._entries)
        found = self._beginning_with(beginning)
        for word, places in zip(self._words[found], self._places[found], strict=True):
            rarity = log(1 + len(best) / len(places)) * (1 if word == beginning else FOR_A_BEGINNING)
            for place, weight in places.items():
                if weight * rarity > best[place]:
                    best[place] = weight * rarity
        return Scores(set().union(*self._places[found]), best)

    def _frequent(self) -> Iterable[str]:
        """Return the beginnings whose scores must be computed in advance (see `MOST_MERGED`)."""
        places: Counter[str] = Counter()
        for word, found in zip(self._words, self._places, strict=True):
            for length in range(SHORTEST_BEGINNING, len(word) + 1):
                places[word[:length]] += len(found)
        return (beginning for beginning, number in places.items() if number > MOST_MERGED)

    def _beginning_with(self, beginning: str) -> slice:
        """Return the range of the words with this beginning in the sorted list of words."""
        first = bisect_left(self._words, beginning)
        if len(beginning) < SHORTEST_BEGINNING:
            return slice(first, bisect_right(self._words, beginning))
        return slice(first, bisect_left(self._words, beginning + LAST_CHARACTER))

    def _scores(self, places: Iterable[int], asked: Iterable[Scores], query: str) -> Iterator[float]:
        """Yield the final score of each entry in `places`, in the order of `places`.

        `asked` has the scores for each word of the query.
        """
        for_heading = {
            place: FOR_THE_HEADING if heading == query else FOR_ALMOST_THE_HEADING
            for place, heading in self._headed.get(_stem(query), ())
        }
        by_word = (map(each.of.__getitem__, places) for each in asked)
        sums = map(sum, zip(*by_word, strict=True))
        in_text = map(truediv, sums, map(self._lengths.__getitem__, places))
        with_headings = map(add, in_text, map(for_heading.get, places, repeat(0.0)))
        return map(mul, with_headings, map(self._factors.__getitem__, places))


def _weights(entry: Entry) -> dict[str, float]:
    weights: dict[str, float] = {
        word: min(1 + 0.2 * (times - 1), MOST_IN_TEXT) for word, times in Counter(_words(entry.text)).items()
    }
    for text, weight in ((entry.page, IN_TITLE), (entry.heading, IN_HEADING)):
        for word in set(_words(text)):
            weights[word] = weights.get(word, 0.0) + weight
    return weights


def _words(text: str) -> Iterator[str]:
    for found in WORD.finditer(text):
        yield from _of_the_guide(found[0])


@lru_cache(MOST_REMEMBERED)
def _of_the_guide(word: str) -> frozenset[str]:
    """Return a word of the guide and its parts, normalized as in `Word`. The results are cached, because the same
    words occur often.
    """
    whole, parts = _read(word)
    return frozenset((whole, *parts))


def _read(word: str) -> Word:
    return Word(_stem(plain(word)), [_stem(plain(each)) for each in dict.fromkeys(PART.findall(word))])


def _stem(word: str) -> str:
    """Return the word without a plural "s", so that `tokens` and `token` become the same word."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
