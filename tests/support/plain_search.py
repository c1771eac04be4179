"""The rules of the guide's search, word by word, without an index: what
`interfaces/guide/search.py` has to find.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

from wmsd.base.letters import plain
from wmsd.interfaces.guide.search import Entry

WORD = re.compile(r"\w+(?:[.:/_-]+\w+)*")
PART = re.compile(r"[^\W_]+")
CHARACTERS, WORDS, SHOWN = 200, 8, 20
EXCERPT, BEFORE = 240, 60
IN_TITLE, IN_HEADING = 2.0, 6.0
THE_HEADING, ALMOST_THE_HEADING = 40.0, 30.0
Found = tuple[str, list[str], list[str]]
"""A found section: its address, its heading and its excerpt. Heading and excerpt alternate between unmarked and
marked text.
"""


def compared(text: str) -> str:
    """Return the word in lower case, without accents, and without the s of a plural at its end."""
    word = plain(text)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def begins(word: str, beginning: str) -> bool:
    """Return True if the word equals `beginning` or starts with it. A single letter must be the whole word."""
    return word == beginning or (len(beginning) > 1 and word.startswith(beginning))


def forms(text: str) -> list[tuple[re.Match[str], set[str]]]:
    """Return the words of the text, each with the forms that are compared: the whole word and its parts."""
    return [(each, {compared(form) for form in (each[0], *PART.findall(each[0]))}) for each in WORD.finditer(text)]


@dataclass
class Section:
    entry: Entry

    @cached_property
    def words(self) -> list[tuple[re.Match[str], set[str]]]:
        return forms(self.entry.text)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each word. A word of the text weighs 1 to 2, depending on how many times it occurs.

        A word of the page's title weighs 2 more, and a word of the section's heading 6 more.
        """
        times: dict[str, int] = {}
        for _, of_word in self.words:
            for form in of_word:
                times[form] = times.get(form, 0) + 1
        weights = {form: min(1 + 0.2 * (number - 1), 2.0) for form, number in times.items()}
        for text, weight in ((self.entry.page, IN_TITLE), (self.entry.heading, IN_HEADING)):
            for form in {form for _, of_word in forms(text) for form in of_word}:
                weights[form] = weights.get(form, 0.0) + weight
        return weights


class PlainSearch:
    def __init__(self, entries: Sequence[Entry]) -> None:
        self.sections = [Section(each) for each in entries]
        self.known: dict[str, int] = {}
        """All words, with the number of sections that contain each."""
        for section in self.sections:
            for form in section.weights:
                self.known[form] = self.known.get(form, 0) + 1

    def search(self, typed: str) -> tuple[str, int, bool, list[Found]]:
        """Return the query without needless spaces, the number of found sections, True if each section has all
        words of the query, and the best sections.
        """
        query = " ".join(typed[:CHARACTERS].split())
        looked_for = self._looked_for(query)
        having = [[self._score(section, beginning) for beginning, _ in looked_for] for section in self.sections]
        has_all = bool(looked_for) and any(all(scores) for scores in having)
        chosen = [
            (-self._whole_score(section, scores, plain(query)), at)
            for at, (section, scores) in enumerate(zip(self.sections, having, strict=True))
            if (all(scores) if has_all else any(scores))
        ]
        marked = {form for beginning, parts in looked_for for form in (beginning, *parts)}
        best = [self.sections[at].entry for _, at in sorted(chosen)[:SHOWN]]
        found = [(each.address, whole(each.heading, marked), excerpt(each.text, marked)) for each in best]
        return query, len(chosen), has_all, found

    def _looked_for(self, query: str) -> list[tuple[str, list[str]]]:
        """Return the first words of the query, each with its parts.

        If no known word starts with a word of several parts, each part is searched as a word.
        """
        looked_for: list[tuple[str, list[str]]] = []
        for word in list(dict.fromkeys(WORD.findall(unicodedata.normalize("NFC", query))))[:WORDS]:
            parts = [compared(each) for each in dict.fromkeys(PART.findall(word))]
            if len(parts) < 2 or any(begins(known, compared(word)) for known in self.known):
                looked_for.append((compared(word), parts))
            else:
                looked_for += [(each, []) for each in parts]
        return looked_for[:WORDS]

    def _score(self, section: Section, beginning: str) -> float:
        """Return the score of the section's best word that starts with `beginning`, or 0.0 if it has none.

        A rare word scores more. A word that is longer than `beginning` scores half.
        """
        return max((self._of_word(section, word, beginning) for word in section.weights), default=0.0)

    def _of_word(self, section: Section, word: str, beginning: str) -> float:
        if not begins(word, beginning):
            return 0.0
        rarity = log(1 + len(self.sections) / self.known[word]) * (1 if word == beginning else 0.5)
        return section.weights[word] * rarity

    def _whole_score(self, section: Section, scores: Sequence[float], query: str) -> float:
        heading = plain(section.entry.heading)
        for_heading = THE_HEADING if heading == query else 0.0
        if heading != query and compared(heading) == compared(query):
            for_heading = ALMOST_THE_HEADING
        in_long_text = 1 + log(1 + len(section.entry.text) / 500)
        return (sum(scores) / in_long_text + for_heading) * section.entry.weight


def spans(text: str, marked: set[str]) -> Iterator[tuple[int, int]]:
    for word, of_word in forms(text):
        if any(begins(form, beginning) for form in of_word for beginning in marked):
            yield word.span()


def whole(text: str, marked: set[str]) -> list[str]:
    return cut(text, list(spans(text, marked)), 0, len(text))


def excerpt(text: str, marked: set[str]) -> list[str]:
    """Return the part of the text that has the most marked words close together, cut between words.

    The pieces alternate between unmarked and marked text.
    """
    found = list(spans(text, marked))
    begin, end = 0, len(text)
    if found and len(text) > EXCERPT:
        together = [
            sum(1 for later, _ in found if first <= later < first + EXCERPT - BEFORE) for first, _ in found
        ]
        first = found[together.index(max(together))][0]
        begin = max(first - BEFORE, 0)
        if begin > 0:
            begin = text.find(" ", begin, first) + 1 or first
    if begin + EXCERPT < len(text):
        end = max(text.rfind(" ", begin, begin + EXCERPT), begin + EXCERPT // 2)
    pieces = cut(text, found, begin, end)
    if begin > 0:
        pieces[0] = "… " + pieces[0]
    if end < len(text):
        pieces[-1] += " …"
    return pieces


def cut(text: str, found: list[tuple[int, int]], begin: int, end: int) -> list[str]:
    pieces, at = [], begin
    for first, last in found:
        if begin <= first and last <= end:
            pieces += [text[at:first], text[first:last]]
            at = last
    return [*pieces, text[at:end]]


def told(results: Any) -> tuple[str, int, bool, list[Found]]:
    """Return the results of the guide's own search in the form that `PlainSearch.search` returns."""
    found = [(each.entry.address, list(each.heading), list(each.excerpt)) for each in results.found]
    return results.query, results.total, results.has_all_words, found
