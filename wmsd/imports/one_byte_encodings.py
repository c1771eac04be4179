"""Detects encodings with one byte per letter. To do this, it counts how many of the file's non-ASCII letters
belong to the alphabet of each language.

The detection counts bytes and does not look at words. The result is a guess, which can be wrong for a file with
few non-ASCII letters. Therefore users see how a cell was read.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple


class Alphabet(NamedTuple):
    """The non-ASCII letters of a language.

    A file with `rare` letters almost always has `common` letters too. So `rare` letters alone do not show the
    language. For example, the bytes of `ě`, `ď` and `ő` may also be the letters `ì`, `ï` and `õ` in Windows-1252.
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
"""The languages of each encoding. If several encodings fit the letters of a file equally well, wmsd takes the
first of them.
"""
NO_TEXT: Final[Mapping[str, frozenset[int]]] = {
    "windows-1252": frozenset(b"\x81\x8d\x8f\x90\x9d"),
    "windows-1250": frozenset(b"\x81\x83\x88\x90\x98"),
    "iso-8859-2": frozenset(range(0x80, 0xA0)),
}
"""For each encoding, the bytes that never occur in text: they mean no character, or a control character."""


def _same(one: str, other: str) -> frozenset[int]:
    high = (bytes([byte]) for byte in range(0x80, 0x100))
    return frozenset(each[0] for each in high if each.decode(one, "replace") == each.decode(other, "replace"))


SHARED: Final[Mapping[str, frozenset[int]]] = {
    "windows-1252": _same("windows-1252", "windows-1250"),
    "windows-1250": _same("windows-1252", "windows-1250"),
    "iso-8859-2": _same("windows-1252", "iso-8859-2"),
}
"""For each encoding, the bytes that mean the same character in this encoding and in one of the other region. For
`windows-1250` and `iso-8859-2` (Central European), the other encoding is `windows-1252`. For `windows-1252`
(Western), it is `windows-1250`.
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
"""Bytes that indicate a Western language: the characters `¡`, `¢`, `²` and `½`, and the letters `ão`, `ões`, `œu`
and `œi`. In the Central European encodings, these bytes mean an accent without a letter, or letters that hardly
ever follow each other.
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
"""A pattern for bytes that are probably signs, such as `³` and `£`. Each of these bytes is a sign in Windows-1252
and a letter in a Central European encoding.

The pattern finds such a byte where signs are usual: `m³`, `5 £`, `1º`, `«Café»`. It does not find the byte where a
letter is more likely: before a letter, or at the end of a word with four or more letters.

`®` and `©` also count before a word, if no small letter follows. So the pattern finds the sign in `©Acme`. The
same bytes are the letters `Ž` and `Š` in ISO 8859-2. The pattern does not find them in `Žďár` and `Škofja`.
"""


DOS: Final = ("cp852", "cp850", "mac-roman")
"""The encodings of DOS and of old Macs. wmsd uses these encodings only if a user chooses them."""
USUAL_SIGNS: Final = (
    b"\x80\x82\x84\x85\x8b\x91\x92\x93\x94\x95\x96\x97\x9b"  # of Windows: quotes, dashes, the euro
    b"\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb5\xb7\xbb\xbf"
)
"""The signs, as bytes, that often stand next to letters in files with a Windows encoding. Examples are quotes and
dashes.
"""
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
        """Return the encodings, other than `encoding`, that can read all bytes of the file, but read some bytes
        differently.
        """
        found = bytes(self._all).decode(encoding, "replace")
        return tuple(each for each in self._possible() if bytes(self._all).decode(each) != found)

    def are_few(self, encoding: str) -> bool:
        """Return True if less than half of the file's non-ASCII bytes are letters in the encoding."""
        found = ((bytes([byte]).decode(encoding, "replace"), count) for byte, count in self._all.items())
        return 2 * sum(count for each, count in found if each.isupper() or each.islower()) < self._all.total()

    def fit_none(self, encoding: str) -> bool:
        """Return True if at least half of the file's non-ASCII bytes are unlikely in the encoding, as in files
        from DOS.

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
        """Return two weights that say how well a language fits the letters of the file. Compare the first weights.
        If they are equal, compare the second ones.

        Letters in `SHARED` are called shared, and the language's other letters are called own. The first weight is
        the count of the own letters, plus the count of the shared letters up to the same number. Therefore a file
        with only `ö` and `ü` does not count as Hungarian.

        The second weight is the count of all shared letters, or 0 if there are no own letters. Therefore a file
        with `á` and `ő` does not count as Estonian.
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
    """Return how each of the encodings `others` would read the text. Omit an encoding that reads the text like
    `encoding`, or like an earlier one.
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
