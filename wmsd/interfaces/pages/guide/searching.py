"""Searches the guide: words and their beginnings, in an index that is made once and kept in memory.

What somebody types is only ever compared with words. Whatever it is, the work is bounded: by the first characters
and words of it that are looked at, and by the size of the guide.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import islice, takewhile
from math import log
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass

LONGEST_QUERY: Final = 200
MOST_WORDS: Final = 8
SHORTEST_BEGINNING: Final = 2
"""In characters: a single one has to be a whole word."""
MOST_FOUND: Final = 20
MOST_REMEMBERED: Final = 20_000
"""Words of the guide: several times as many as it has."""
EXCERPT: Final = 240
"""In characters."""
BEFORE: Final = 60
"""So many characters stand in front of the first word that was looked for."""
WORD: Final = re.compile(r"\w+(?:[.:/_-]+\w+)*")
"""Names such as `sales_order.created`, `X-Request-Id` and `wmsd-1` are one word, and so are their parts."""
PART: Final = re.compile(r"[^\W_]+")
IN_HEADING: Final = 6.0
IN_TITLE: Final = 2.0
MOST_IN_TEXT: Final = 2.0
FOR_A_BEGINNING: Final = 0.5
FOR_THE_HEADING: Final = 40.0
FOR_ALMOST_THE_HEADING: Final = 30.0
"""`log.file` comes before `log.files`, if that is what was typed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A section of the guide, or a row of a table in it."""

    page: str
    """The page's title."""
    address: str
    heading: str
    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Found:
    entry: Entry
    heading: Sequence[Piece]
    excerpt: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Results:
    query: str
    total: int
    """How many there are in all."""
    found: Sequence[Found]
    """The best of them."""
    has_all_words: bool
    """Whether each has all of the words; if not, each has some."""


class Text:
    """A text with the words that are in it, so that no search has to look for them. `words` are their numbers."""

    __slots__ = ("ends", "starts", "text", "words")

    def __init__(self, text: str, numbered: "dict[str, int]") -> None:
        self.text = text
        found = list(WORD.finditer(text))
        self.words = array("I", (numbered.setdefault(each[0], len(numbered)) for each in found))
        self.starts = array("I", (each.start() for each in found))
        self.ends = array("I", (each.end() for each in found))

    def spans(self, meant: Container[int]) -> list[tuple[int, int]]:
        """Where those words stand."""
        return [(self.starts[at], self.ends[at]) for at, word in enumerate(self.words) if word in meant]


class Place(NamedTuple):
    """An entry as searches need it."""

    entry: Entry
    text: Text
    heading: Text
    plain_heading: str
    length: float
    """What its score is divided by: in a long text a word says less."""


class Index:
    def __init__(self, entries: Iterable[Entry]) -> None:
        numbered: dict[str, int] = {}
        self._entries = tuple(
            Place(
                each,
                Text(each.text, numbered),
                Text(each.heading, numbered),
                _plain(each.heading),
                1 + log(1 + len(each.text) / 500),
            )
            for each in entries
        )
        places: dict[str, dict[int, float]] = defaultdict(dict)
        for place, found in enumerate(self._entries):
            for word, weight in _weights(found.entry).items():
                places[word][place] = weight
        self._places: Mapping[str, Mapping[int, float]] = dict(places)
        self._words = sorted(places)
        spelled: dict[str, list[int]] = defaultdict(list)
        for word, number in numbered.items():
            for part in _of_the_guide(word):
                spelled[part].append(number)
        self._spelled: Mapping[str, Sequence[int]] = dict(spelled)
        """By a word or a part of one, as it is compared: the numbers of those that are written so."""

    def search(self, text: str) -> Results:
        query = " ".join(text[:LONGEST_QUERY].split())
        words = list(dict.fromkeys(WORD.findall(query)))[:MOST_WORDS]
        asked = list(islice((scores for word in words for scores in self._asked(word)), MOST_WORDS))
        everywhere = set(asked[0]).intersection(*asked[1:]) if asked else set()
        places = everywhere or {place for scores in asked for place in scores}
        plain = _plain(query)
        scored = {place: self._score(self._entries[place], place, plain, asked) for place in places}
        best = nsmallest(MOST_FOUND, places, key=lambda place: (-scored[place], place))
        meant = self._meant(words)
        found = [_found(self._entries[place], meant) for place in best]
        return Results(query, len(places), found, bool(everywhere))

    def _meant(self, words: Iterable[str]) -> set[int]:
        """The numbers of the words of the guide that are looked for: whole, in part, or by their beginning."""
        wholes = {part for word in words for part in _with_parts(word)}
        written = {each for whole in wholes for each in (whole, *self._words_from(whole))}
        return {number for each in written for number in self._spelled.get(each, ())}

    def _asked(self, word: str) -> Iterator[Mapping[int, float]]:
        """The places of a word; those of each of its parts where it is not found as a whole."""
        whole = self._begun(_stem(_plain(word)))
        parts = dict.fromkeys(PART.findall(word))
        if whole or len(parts) < 2:
            yield whole
        else:
            for part in parts:
                yield self._begun(_stem(_plain(part)))

    def _begun(self, beginning: str) -> Mapping[int, float]:
        """The places of the words that begin so, with what each counts."""
        scores: dict[int, float] = {}
        for word in self._words_from(beginning):
            places = self._places[word]
            rarity = log(1 + len(self._entries) / len(places)) * (1 if word == beginning else FOR_A_BEGINNING)
            for place, weight in places.items():
                score = weight * rarity
                if score > scores.get(place, 0.0):
                    scores[place] = score
        return scores

    def _words_from(self, beginning: str) -> Iterable[str]:
        if len(beginning) < SHORTEST_BEGINNING:
            return (beginning,) if beginning in self._places else ()
        first = bisect_left(self._words, beginning)
        after = (self._words[place] for place in range(first, len(self._words)))
        return takewhile(lambda word: word.startswith(beginning), after)

    @staticmethod
    def _score(found: Place, place: int, query: str, asked: Sequence[Mapping[int, float]]) -> float:
        score = sum([scores.get(place, 0.0) for scores in asked]) / found.length
        return (score + _for_heading(found.plain_heading, query)) * found.entry.weight


def _for_heading(heading: str, query: str) -> float:
    if heading == query:
        return FOR_THE_HEADING
    return FOR_ALMOST_THE_HEADING if _stem(heading) == _stem(query) else 0.0


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
    """As `_with_parts`, for words that come again and again: those of the guide, never what somebody types."""
    return frozenset(_with_parts(word))


def _with_parts(word: str) -> set[str]:
    return {_stem(_plain(each)) for each in (word, *PART.findall(word))}


def _plain(text: str) -> str:
    """Without capitals and accents: `Recepție` is found by `receptie`."""
    return "".join(
        each for each in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(each)
    )


def _stem(word: str) -> str:
    """`tokens` and `token` are one word."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _found(place: Place, meant: Container[int]) -> Found:
    entry, spans = place.entry, place.text.spans(meant)
    begin = _begin(entry.text, spans)
    end = min(begin + EXCERPT, len(entry.text))
    if end < len(entry.text):
        end = max(entry.text.rfind(" ", begin, end), begin + EXCERPT // 2)
    pieces = [*_pieces(entry.text, spans, begin, end)]
    if begin > 0:
        pieces.insert(0, Piece("… ", False))
    if end < len(entry.text):
        pieces.append(Piece(" …", False))
    heading = [*_pieces(entry.heading, place.heading.spans(meant), 0, len(entry.heading))]
    return Found(entry, heading, pieces)


def _begin(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """Where the excerpt begins that has the most of them."""
    if not spans or len(text) <= EXCERPT:
        return 0
    starts = [first for first, _ in spans]
    most = max(range(len(starts)), key=lambda at: bisect_left(starts, starts[at] + EXCERPT - BEFORE) - at)
    begin = max(starts[most] - BEFORE, 0)
    return text.find(" ", begin, starts[most]) + 1 or starts[most] if begin > 0 else 0


def _pieces(text: str, spans: Iterable[tuple[int, int]], begin: int, end: int) -> Iterator[Piece]:
    at = begin
    for first, last in spans:
        if first < at or last > end:
            continue
        if first > at:
            yield Piece(text[at:first], False)
        yield Piece(text[first:last], True)
        at = last
    if at < end:
        yield Piece(text[at:end], False)
