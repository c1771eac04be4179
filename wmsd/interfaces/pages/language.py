"""The language of a page: what its person has chosen, or else what the browser asks for (RFC 9110, 12.5.4).

English stands in the code and in the templates; the other languages in `catalogues/`, as gettext's PO files.
Errors of operations are English sentences too: in a catalogue they have the context `error`, and `{}` where a
value stands.
"""

import gettext
import io
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from wmsd.interfaces.http.negotiation import weights_in

if TYPE_CHECKING:
    from polib import POFile

CATALOGUES: Final = files("wmsd.interfaces.pages") / "catalogues"
DEFAULT: Final = "en"
OFFERED: tuple[str, ...] = ("en",)
"""The languages whose catalogue is complete. The Romanian one is not yet."""
ERROR: Final = "error"
LONGEST_TOLD: Final = 300
"""Characters of a sentence in which values are looked for."""
PLACE: Final = "{}"
current: ContextVar[str] = ContextVar("language", default=DEFAULT)
"""Of the page that is made."""


def of_browser(accept_language: str) -> str:
    """The language of ours that the browser likes best."""
    weights = weights_in(accept_language)
    asked = sorted((name for name in weights if weights[name] > 0), key=lambda name: -weights[name])
    return next((name[:2] for name in asked if name[:2] in OFFERED), DEFAULT)


def translated(text: str) -> str:
    """A text of ours in the language of the page."""
    return text and _catalogue(current.get()).gettext(text)


def counted(singular: str, plural: str, number: int) -> str:
    """The text for so many. It has `%(num)s` where the number stands."""
    return _catalogue(current.get()).ngettext(singular, plural, number)


def told(sentence: str) -> str:
    """An error of an operation in the language of the page; in English when the catalogue lacks it."""
    language = current.get()
    if language == DEFAULT:
        return sentence
    found = _catalogue(language).pgettext(ERROR, sentence)
    if found != sentence or len(sentence) > LONGEST_TOLD:
        return found
    first, _, _ = sentence.partition(" ")
    patterns = _patterns(language)
    for pattern in (*patterns.get(first, ()), *patterns.get(PLACE, ())):
        if values := pattern.expression.fullmatch(sentence):
            return pattern.translation.format(*(_value(language, each) for each in values.groups()))
    return sentence


def _value(language: str, text: str) -> str:
    """What stands in a sentence may be a word of ours, such as the name of a kind of record."""
    return _catalogue(language).pgettext(ERROR, text)


@dataclass(frozen=True, slots=True)
class _Pattern:
    expression: re.Pattern[str]
    translation: str


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == DEFAULT:
        return gettext.NullTranslations()
    return gettext.GNUTranslations(io.BytesIO(_entries(language).to_binary()))


@cache
def _patterns(language: str) -> Mapping[str, Sequence[_Pattern]]:
    """Sentences with values by their first word; under `{}` those that begin with a value. The longest come first,
    because they say more.
    """
    found: dict[str, list[_Pattern]] = defaultdict(list)
    for entry in sorted(_entries(language), key=lambda entry: -len(entry.msgid)):
        if entry.msgctxt == ERROR and PLACE in entry.msgid and entry.msgstr:
            expression = "(.+)".join(map(re.escape, entry.msgid.split(PLACE)))
            first, _, _ = entry.msgid.partition(" ")
            found[PLACE if PLACE in first else first].append(_Pattern(re.compile(expression), entry.msgstr))
    return found


@cache
def _entries(language: str) -> "POFile":
    from polib import pofile  # imported when somebody reads another language than English

    return pofile((CATALOGUES / f"{language}.po").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Formats:
    """How numbers and dates are written (Unicode CLDR)."""

    decimal: str
    group: str
    months: tuple[str, ...]

    def date(self, text: str) -> str:
        """Of one in ISO 8601, such as 2026-11-24."""
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
    """Those of the language of the page."""
    return FORMATS[current.get()]
