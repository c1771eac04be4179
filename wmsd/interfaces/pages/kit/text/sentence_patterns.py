"""Sentences of a catalogue that have values: which one a sentence is, and its translation with its values."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from wmsd.base.dataclass import dataclass

PLACE: Final = "{}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sentence, cut at its values. The translation has `{}`, or `{0}` and `{1}` where their order differs."""

    pieces: tuple[str, ...]
    translation: str

    def values_in(self, sentence: str) -> list[str] | None:
        """The values, or None when it is another sentence. Each piece is looked for once, so that the time grows
        with the length of the sentence and no faster, whoever has written the values.
        """
        first, *between, last = self.pieces
        at, end = len(first), len(sentence) - len(last)
        if at > end or not sentence.startswith(first) or not sentence.endswith(last):
            return None
        values = []
        for piece in between:
            found = sentence.find(piece, at, end)
            if found < 0:
                return None
            values.append(sentence[at:found])
            at = found + len(piece)
        return [*values, sentence[at:end]]

    def told(self, values: Iterable[str]) -> str:
        return self.translation.format(*values)


class Patterns:
    """Those of a language."""

    def __init__(self, translations: Mapping[str, str]) -> None:
        """`translations` are by English sentence."""
        found: dict[str, list[Pattern]] = defaultdict(list)
        for sentence in sorted(translations, key=lambda each: (-len(each), each)):  # a longer one says more
            if PLACE in sentence:
                pattern = Pattern(tuple(sentence.split(PLACE)), translations[sentence])
                first, _, _ = sentence.partition(" ")
                found[PLACE if PLACE in first else first].append(pattern)
        self._by_first_word: Mapping[str, Sequence[Pattern]] = dict(found)

    def told(self, sentence: str, value_told: Callable[[str], str]) -> str | None:
        """The sentence translated, or None when no pattern fits. `value_told` translates what stands in it."""
        first, _, _ = sentence.partition(" ")
        for pattern in (*self._by_first_word.get(first, ()), *self._by_first_word.get(PLACE, ())):
            values = pattern.values_in(sentence)
            if values is not None:
                return pattern.told(map(value_told, values))
        return None
