"""Searches the guide: words and their beginnings, in an index that is made once and kept in memory.

What somebody types is only ever compared with words. Whatever it is, the work is bounded: by the first characters
and words of it that are looked at, and by the size of the guide.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import log
from typing import Final

LONGEST_QUERY: Final = 200
MOST_WORDS: Final = 8
SHORTEST_BEGINNING: Final = 2
"""In characters: a single one has to be a whole word."""
MOST_FOUND: Final = 20
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
FOR_THE_WHOLE_HEADING: Final = 40.0


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


class Index:
    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)
        places: dict[str, dict[int, float]] = defaultdict(dict)
        for place, entry in enumerate(self._entries):
            for word, weight in _weights(entry).items():
                places[word][place] = weight
        self._places: Mapping[str, Mapping[int, float]] = dict(places)
        self._words = sorted(places)

    def search(self, text: str) -> Results:
        query = " ".join(text[:LONGEST_QUERY].split())
        words = list(dict.fromkeys(WORD.findall(query)))[:MOST_WORDS]
        asked = [scores for word in words for scores in self._asked(word)]
        everywhere = set(asked[0]).intersection(*asked[1:]) if asked else set()
        places = everywhere or {place for scores in asked for place in scores}
        scored = {place: self._score(place, query, asked) for place in places}
        best = sorted(scored, key=lambda place: (-scored[place], place))[:MOST_FOUND]
        beginnings = tuple(beginning for word in words for beginning in _with_parts(word))
        found = [_found(self._entries[place], beginnings) for place in best]
        return Results(query, len(places), found, bool(everywhere))

    def _asked(self, word: str) -> Iterator[Mapping[int, float]]:
        """The places of a word; those of each of its parts where it is not found as a whole."""
        whole = self._begun(_stem(_plain(word)))
        parts = PART.findall(word)
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
                scores[place] = max(scores.get(place, 0.0), weight * rarity)
        return scores

    def _words_from(self, beginning: str) -> Iterable[str]:
        if len(beginning) < SHORTEST_BEGINNING:
            return (beginning,) if beginning in self._places else ()
        first = bisect_left(self._words, beginning)
        after = (self._words[place] for place in range(first, len(self._words)))
        return takewhile(lambda word: word.startswith(beginning), after)

    def _score(self, place: int, query: str, asked: Sequence[Mapping[int, float]]) -> float:
        entry = self._entries[place]
        score = sum(scores.get(place, 0.0) for scores in asked) / (1 + log(1 + len(entry.text) / 500))
        is_heading = _plain(entry.heading) == _plain(query)
        return (score + (FOR_THE_WHOLE_HEADING if is_heading else 0.0)) * entry.weight


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
        yield from _with_parts(found[0])


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


def _found(entry: Entry, beginnings: tuple[str, ...]) -> Found:
    spans = _spans(entry.text, beginnings)
    begin = _begin(entry.text, spans)
    end = min(begin + EXCERPT, len(entry.text))
    if end < len(entry.text):
        end = max(entry.text.rfind(" ", begin, end), begin + EXCERPT // 2)
    pieces = [*_pieces(entry.text, spans, begin, end)]
    if begin > 0:
        pieces.insert(0, Piece("… ", False))
    if end < len(entry.text):
        pieces.append(Piece(" …", False))
    heading = [*_pieces(entry.heading, _spans(entry.heading, beginnings), 0, len(entry.heading))]
    return Found(entry, heading, pieces)


def _spans(text: str, beginnings: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where words stand that begin so, or a part of which does."""
    return [
        found.span()
        for found in WORD.finditer(text)
        if any(_is_begun(word, beginnings) for word in _with_parts(found[0]))
    ]


def _is_begun(word: str, beginnings: tuple[str, ...]) -> bool:
    return word in beginnings or word.startswith(
        tuple(each for each in beginnings if len(each) >= SHORTEST_BEGINNING)
    )


def _begin(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """Where the excerpt begins that has the most of them."""
    if not spans or len(text) <= EXCERPT:
        return 0
    reach = EXCERPT - BEFORE
    best = max(spans, key=lambda span: sum(span[0] <= other[0] < span[0] + reach for other in spans))
    begin = max(best[0] - BEFORE, 0)
    return text.find(" ", begin, best[0]) + 1 or best[0] if begin > 0 else 0


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
