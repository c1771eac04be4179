"""The language of a page: the choice of its user, or else the preference of the browser (RFC 9110, 12.5.4).

The texts in the code and in the templates are English. The other languages are in `catalogues/`, as PO files of
gettext. Errors of operations are English sentences, too. In a catalogue, they have the context `error`, with `{}`
in place of each value. The doctor's findings have the context `finding`, with named placeholders (see
`finding_sentences.py`).
"""

import gettext
import io
import re
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.http.negotiation import weights_in

if TYPE_CHECKING:
    from polib import POFile

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

PLACE: Final = "{}"
CATALOGUES: Final = files("wmsd.interfaces.pages") / "catalogues"
DEFAULT: Final = "en"
OFFERED: tuple[str, ...] = ("en", "ro")
"""The languages with a complete catalogue."""
ERROR: Final = "error"
FINDING: Final = "finding"
LONGEST_TRANSLATED: Final = 2000
"""The maximum number of characters of a sentence that can be translated with a pattern. Longer sentences stay
English.
"""
ENDS: Final = (".", "?", "!")
PLACES: Final = re.compile(r"\{\w+\}")
BETWEEN_SENTENCES: Final = re.compile(r"(?<=[.]) (?=[A-Z])")
current: ContextVar[str] = ContextVar("language", default=DEFAULT)
"""The language of the current page."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An English sentence in pieces, without its values, and the translation of the sentence.

    The translation has `{}` for each value. It has `{0}` and `{1}` instead if the values have another order in it.
    """

    pieces: tuple[str, ...]
    translation: str

    def values_in(self, sentence: str) -> list[str] | None:
        """Return the values in a sentence, or None if the sentence does not match.

        Each piece is searched only once. Therefore the time grows only linearly with the length, whatever the
        values contain.
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

    def translate(self, values: Iterable[str]) -> str:
        return self.translation.format(*values)


class Patterns:
    """The patterns of a language."""

    def __init__(self, translations: Mapping[str, str]) -> None:
        """Sort the patterns by their first words. `translations` has the translations by English sentence."""
        found: dict[str, list[Pattern]] = defaultdict(list)
        for sentence in sorted(translations, key=lambda each: (-len(each), each)):  # longer ones are more exact
            if PLACE in sentence:
                pattern = Pattern(tuple(sentence.split(PLACE)), translations[sentence])
                first, _, _ = sentence.partition(" ")
                found[PLACE if PLACE in first else first].append(pattern)
        self._by_first_word: Mapping[str, Sequence[Pattern]] = dict(found)

    def translate(self, sentence: str, translate_value: Callable[[str], str]) -> str | None:
        """Return the translated sentence, or None if no pattern matches.

        `translate_value` translates each value in the sentence.
        """
        first, _, _ = sentence.partition(" ")
        for pattern in (*self._by_first_word.get(first, ()), *self._by_first_word.get(PLACE, ())):
            values = pattern.values_in(sentence)
            if values is not None:
                return pattern.translate(map(translate_value, values))
        return None


def of_browser(accept_language: str) -> str:
    """Return the offered language that the browser prefers."""
    weights = weights_in(accept_language)
    asked = sorted((name for name in weights if weights[name] > 0), key=lambda name: -weights[name])
    return next((name[:2] for name in asked if name[:2] in OFFERED), DEFAULT)


def translate_text(text: str) -> str:
    """Return a text of wmsd in the language of the page."""
    return text and _catalogue(current.get()).gettext(text)


def translate_count(singular: str, plural: str, number: int) -> str:
    """Return the text for a number in the language of the page. The text has `%(num)s` in place of the number."""
    return _catalogue(current.get()).ngettext(singular, plural, number)


def finding_text(declared: str) -> str:
    """Return a text that the doctor declares, in the language of the page.

    The catalogues contain each text only once. If the text is also an error, they contain it only as an error,
    with `{}` for each placeholder.
    """
    catalogue = _catalogue(current.get())
    found = catalogue.pgettext(FINDING, declared)
    if found != declared:
        return found
    plain = PLACES.sub(PLACE, declared)
    found = catalogue.pgettext(ERROR, plain)
    return declared if found == plain else found


def translate_error(sentence: str) -> str:
    """Return an error of an operation in the language of the page. If the catalogue lacks it, return it in
    English.

    If the error has several sentences and the catalogue has each of them, they are translated separately.
    Otherwise a value in a pattern could contain parts of two sentences.
    """
    language = current.get()
    if language == DEFAULT:
        return sentence
    found = _plain(language, sentence)
    if found is not None or len(sentence) > LONGEST_TRANSLATED:
        return found or sentence
    parts = BETWEEN_SENTENCES.split(sentence)
    translated = [_translate_one(language, each) for each in parts]
    if None not in translated:
        return " ".join(filter(None, translated))
    return _translate_one(language, sentence) or sentence


def field_errors(sentences: Iterable[str], name: str) -> str:
    """Return the errors of a field as one text.

    If an error is a phrase such as "is missing", the text has the name of the field before it. Other errors are
    whole sentences, and stay as they are.
    """
    phrases: list[str] = []
    wholes: list[str] = []
    for sentence in sentences:
        is_whole = sentence.endswith(ENDS) and not sentence[0].islower()
        (wholes if is_whole else phrases).append(translate_error(sentence))
    joined = f"{name} {'; '.join(phrases)}".strip()
    end = "" if joined.endswith(ENDS) else "."
    return " ".join([*([f"{joined}{end}"] if phrases else []), *wholes])


def _translate_one(language: str, sentence: str) -> str | None:
    return _plain(language, sentence) or _patterns(language).translate(sentence, partial(_value, language))


def _value(language: str, text: str) -> str:
    """Return the translation of a value in a sentence. If it has no translation, return the value itself.

    A value may be a text of wmsd, such as the name of a kind of record, or a whole sentence.
    """
    return _plain(language, text) or _patterns(language).translate(text, partial(_word, language)) or text


def _word(language: str, text: str) -> str:
    return _plain(language, text) or text


def _plain(language: str, text: str) -> str | None:
    """Return the translation of a text that has no values. Return None if the catalogue lacks the text.

    Also return None if the text contains `{}`, because it could be confused with a pattern, whose translation
    needs values.
    """
    if not text or PLACE in text:
        return None
    found = _catalogue(language).pgettext(ERROR, text)
    return None if found == text else found


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == DEFAULT:
        return gettext.NullTranslations()
    return gettext.GNUTranslations(io.BytesIO(_entries(language).to_binary()))


@cache
def _patterns(language: str) -> Patterns:
    entries = _entries(language)
    return Patterns({each.msgid: each.msgstr for each in entries if each.msgctxt == ERROR and each.msgstr})


@cache
def _entries(language: str) -> "POFile":
    """Return the entries of all catalogues of the language.

    The catalogues of Romanian, for example, are `ro.po`, `ro-errors.po` and all other files `ro-*.po`.
    """
    from polib import pofile  # imported only for a language other than English

    parts = sorted(
        (part for part in CATALOGUES.iterdir() if part.name.startswith((f"{language}.", f"{language}-"))),
        key=lambda part: part.name.removesuffix(".po"),  # the file without a suffix comes first, for its header
    )
    found, *others = [pofile(part.read_text(encoding="utf-8")) for part in parts]
    for other in others:
        found.extend(other)
    return found


@dataclass(frozen=True, slots=True)
class Formats:
    """The format of numbers and dates in a language (Unicode CLDR)."""

    decimal: str
    group: str
    months: tuple[str, ...]

    def date(self, text: str) -> str:
        """Return a date in the format of the language. `text` starts with an ISO 8601 date, such as 2026-11-24."""
        return f"{text[8:10]} {self.months[int(text[5:7]) - 1]} {text[:4]}"


NARROW_BLANK: Final = "\u202f"
FORMATS: Final[Mapping[str, Formats]] = {
    "en": Formats(
        ".",
        NARROW_BLANK,
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    ),
    "ro": Formats(
        ",",
        NARROW_BLANK,
        ("ian.", "feb.", "mar.", "apr.", "mai", "iun.", "iul.", "aug.", "sept.", "oct.", "nov.", "dec."),
    ),
}


def formats() -> Formats:
    """Return the formats of the language of the page."""
    return FORMATS[current.get()]
