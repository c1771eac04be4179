"""The detection of encodings with one byte per letter, by the language whose alphabet has most of the letters.

The detection counts bytes and does not look at words. The result is a guess, which can be wrong for a file with
few non-ASCII letters. Therefore users see how a cell was read.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple


class Alphabet(NamedTuple):
    """The non-ASCII letters of a language.

    `rare` letters hardly ever occur in a file without `common` letters. If the only non-ASCII letters of a file
    are `ě`, `ď` or `ő`, they do not indicate a language. In Windows-1252, their bytes are `ì`, `ï` and `õ`.
    """

    common: str
    rare: str = ""


WESTERN: Final = (
    Alphabet("àçéè", "âæêëîïôœùûü"),  # French
    Alphabet("äöüß"),  # German
    Alphabet("áéíñóú", "ü"),  # Spanish
    Alphabet("áâçéíóú", "àãêô"),  # Portuguese
    Alphabet("àèéù", "ìò"),  # Italian
    Alphabet("åæøé"),  # Danish, Norwegian
    Alphabet("åäöé"),  # Swedish, Finnish
    Alphabet("áæéíóöúý", "ðþ"),  # Icelandic
    Alphabet("éë", "èêïóöü"),  # Dutch
    Alphabet("äöü", "õšž"),  # Estonian
    Alphabet("àçèéíòóú", "ïü"),  # Catalan
)
CENTRAL: Final = (
    Alphabet("ăâîşţ"),  # Romanian
    Alphabet("ąćęłńóśźż"),  # Polish
    Alphabet("áčéíňóřšťúůýž", "ďě"),  # Czech
    Alphabet("áäčéíľňóôšťúýž", "ďĺŕ"),  # Slovak
    Alphabet("áéíóöúüű", "ő"),  # Hungarian
    Alphabet("čćđšž"),  # Croatian, Slovene
)
LANGUAGES: Final[Mapping[str, Iterable[Alphabet]]] = {
    "windows-1252": WESTERN,
    "windows-1250": CENTRAL,
    "iso-8859-2": CENTRAL,
}
"""The languages of each encoding. If two encodings explain the letters equally well, the first encoding is chosen.
"""
NO_TEXT: Final[Mapping[str, frozenset[int]]] = {
    "windows-1252": frozenset(b"\x81\x8d\x8f\x90\x9d"),
    "windows-1250": frozenset(b"\x81\x83\x88\x90\x98"),
    "iso-8859-2": frozenset(range(0x80, 0xA0)),
}
"""By encoding, the bytes that stand for no character or for a control character. No text contains these bytes."""


def _same(one: str, other: str) -> frozenset[int]:
    high = (bytes([byte]) for byte in range(0x80, 0x100))
    return frozenset(each[0] for each in high if each.decode(one, "replace") == each.decode(other, "replace"))


SHARED: Final[Mapping[str, frozenset[int]]] = {
    "windows-1252": _same("windows-1252", "windows-1250"),
    "windows-1250": _same("windows-1252", "windows-1250"),
    "iso-8859-2": _same("windows-1252", "iso-8859-2"),
}
"""By encoding, the bytes that mean the same character in an encoding for the other part of Europe: in a Central
European encoding for `windows-1252`, and in `windows-1252` for the Central European encodings.
"""
OF_THE_WEST: Final = (
    b"\xa1",
    b"\xa2",
    b"\xb2",
    b"\xbd",
    b"\xe3o",
    b"\xc3O",
    b"\xf5es",
    b"\xd5ES",
    b"\x9cu",
    b"\x9ci",
)
"""The bytes that indicate a Western language. In the Central European encodings, the bytes of `¡`, `¢`, `²` and
`½` would be accents without a letter. `ão`, `ões`, `œu` and `œi` would be pairs of letters that hardly any Central
European word has.
"""
BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
COMMON, RARE = 2, 1
ASCII: Final = bytes(range(0x80))
_LETTER: Final = (
    rb"[A-Za-z\x8a\x8c-\x8f\x9a\x9c-\x9f\xa1\xa3\xa5\xa6\xaa\xac\xaf\xb1\xb3\xb6\xb9\xba\xbc\xbe-\xff]"
)
_SIGN: Final = rb"[\xa1\xa3\xa5\xa6\xaa\xac\xaf\xb1\xb3\xb6\xb9\xba\xbc\xbe\xbf]"
_ENCLOSING: Final = rb"[\xab\xb5\xbb]"
_MARK: Final = rb"[\xa9\xae]"
_SMALL: Final = rb"[a-z\xe0-\xff]"
LONELY: Final = re.compile(
    b"%(sign)s(?!%(letter)s)(?<!%(letter)s{3}%(sign)s)"
    b"|%(enclosing)s(?:(?!%(letter)s)|(?<!%(letter)s.))"
    b"|%(mark)s(?:(?!%(letter)s)|(?<!%(letter)s.)(?!%(small)s))"
    % {b"letter": _LETTER, b"small": _SMALL, b"sign": _SIGN, b"enclosing": _ENCLOSING, b"mark": _MARK}
)
"""Bytes that are signs in Windows-1252 and letters in Central European encodings. The pattern finds them in the
places where signs are usual: `m³`, `5 £`, `1º`, `«Café»`. In other places, such a byte counts as a letter: before
a letter, or as the last letter of a word with four or more letters. The bytes of `®` and `©` also count as letters
at the beginning of a word, before a small letter. Therefore `Žďár` and `Škofja` in ISO 8859-2 are words, but
`©Acme` is not.
"""


DOS: Final = ("cp852", "cp850", "mac-roman")
"""The encodings of DOS and of old Macs. wmsd never guesses these encodings, so a user must choose one."""
USUAL_SIGNS: Final = (
    b"\x80\x82\x84\x85\x8b\x91\x92\x93\x94\x95\x96\x97\x9b"  # of Windows: quotes, dashes, the euro
    b"\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb5\xb7\xbb\xbf"
)
"""The bytes of signs that texts in Windows encodings often have next to letters."""
AFTER_SMALL: Final = re.compile(rb"(?<=[a-z])[\x80-\xff]")
BESIDE_LETTERS: Final = re.compile(
    rb"(?<=[A-Za-z])[\x80-\xff](?=[A-Za-z])|(?<![A-Za-z])[\x80-\xff](?=[A-Za-z]{2})"
)


class Letters:
    """A counter of the non-ASCII bytes of a file. Call `count` with each block of the file."""

    def __init__(self) -> None:
        self._all: Counter[int] = Counter()
        self._lonely: Counter[int] = Counter()
        self._western = 0
        self._beside: Counter[int] = Counter()
        self._after_small: Counter[int] = Counter()

    def count(self, block: bytes) -> None:
        if not block.isascii():
            self._all.update(block.translate(None, ASCII))
            self._lonely.update(b"".join(LONELY.findall(block)))
            self._beside.update(b"".join(BESIDE_LETTERS.findall(block)))
            self._after_small.update(b"".join(AFTER_SMALL.findall(block)))
            self._western += COMMON * sum(map(block.count, OF_THE_WEST))

    def encoding(self) -> str:
        return max(self._possible() or LANGUAGES, key=self._explained)

    def others(self, encoding: str) -> tuple[str, ...]:
        """Return the other encodings that can read all bytes of the file, but read some bytes differently."""
        found = bytes(self._all).decode(encoding, "replace")
        return tuple(each for each in self._possible() if bytes(self._all).decode(each) != found)

    def are_few(self, encoding: str) -> bool:
        """Return True if less than half of the file's non-ASCII bytes are letters in the encoding."""
        found = ((bytes([byte]).decode(encoding, "replace"), count) for byte, count in self._all.items())
        return 2 * sum(count for each, count in found if each.isupper() or each.islower()) < self._all.total()

    def fit_none(self, encoding: str) -> bool:
        """Return True if most non-ASCII bytes are unlikely in the encoding, as in files from DOS.

        Unlikely bytes are signs in the place of letters, and capitals after small letters.
        """
        signs = sum(
            count
            for byte, count in self._beside.items()
            if byte not in USUAL_SIGNS
            and not bytes([byte]).decode(encoding, "replace").isalpha()
            and any(bytes([byte]).decode(each).isalpha() for each in DOS)
        )
        capitals = sum(
            count
            for byte, count in self._after_small.items()
            if bytes([byte]).decode(encoding, "replace").isupper()
        )
        return signs + capitals > 0 and 2 * (signs + capitals) >= self._all.total()

    def _possible(self) -> list[str]:
        return [each for each in LANGUAGES if not self._all.keys() & NO_TEXT[each]]

    def _explained(self, encoding: str) -> tuple[int, int]:
        signs = self._western if LANGUAGES[encoding] is WESTERN else 0
        found, shared = max(self._of_language(each, encoding) for each in LANGUAGES[encoding])
        return signs + found, shared

    def _of_language(self, alphabet: Alphabet, encoding: str) -> tuple[int, int]:
        """Return how well a language explains the letters of the file, as two weights to compare in this order.

        The first weight counts the letters that indicate this encoding, and at most as many of the letters that
        another encoding shares (`SHARED`): a file with only `ö` and `ü` is not Hungarian. The second weight counts
        all shared letters, and decides if first weights are equal: `á` with `ő` is not Estonian.
        """
        telling = shared = 0
        for weight, letters in ((COMMON, alphabet.common), (RARE, alphabet.rare)):
            for byte in set((letters + letters.upper()).encode(encoding, "ignore")):
                count = weight * (self._all[byte] - self._lonely[byte])
                if byte in SHARED[encoding]:
                    shared += count
                else:
                    telling += count
        return telling + min(telling, shared), shared if telling else 0


def other_readings(text: str, encoding: str, others: Iterable[str]) -> dict[str, str]:
    """Return, by encoding, how the encodings `others` would read the text. Omit readings that equal the text or an
    earlier reading.
    """
    raw, found = text.encode(encoding), dict[str, str]()
    for other in others:
        reading = raw.decode(other, "replace")
        if reading not in (text, *found.values()):
            found[other] = reading
    return found


def distinguishing_letters(encoding: str, others: Collection[str]) -> "re.Pattern[str]":
    """Return a pattern for the non-ASCII characters that one of the encodings `others` reads differently.

    If `others` is empty, the pattern matches every non-ASCII character.
    """
    if not others:
        return BEYOND_ASCII
    high = bytes(range(0x80, 0x100)).decode(encoding, "ignore")
    return re.compile(f"[{re.escape(''.join(each for each in high if other_readings(each, encoding, others)))}]")
