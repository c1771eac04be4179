"""Letters beyond ASCII, of which Unicode has several forms: `é` is one character, or an `e` and an accent.

What is compared exactly has one form here, and what is searched has none: `plain` leaves neither case nor accents.
"""

import unicodedata
from itertools import filterfalse
from typing import Final

UNDECOMPOSED: Final = str.maketrans(
    {
        letter: plain_letters
        for letters, plain_letters in (
            *(("łŁ", "l"), ("øØ", "o"), ("đĐðÐ", "d"), ("þÞ", "th"), ("æÆ", "ae"), ("œŒ", "oe")),
            *(("\u0131", "i"), ("ħĦ", "h"), ("ßẞ", "ss")),
        )
        for letter in letters
    }
)
"""Letters of which Unicode has no plain one and an accent. Company migration 0035 has the same."""


LONGEST: Final = 1024
"""Characters of a text whose form is changed; a longer one stays in its own. To order its accents takes a time
that grows by the square, half an hour for a megabyte, and no code, name, address, password or search is so long.
"""


def composed_text(text: str) -> str:
    """The text with each letter and its accents as one character, where there is one (Unicode's NFC)."""
    return text if text.isascii() or len(text) > LONGEST else unicodedata.normalize("NFC", text)


def decomposed_text(text: str) -> str:
    """The text with each accent as a character of its own (Unicode's NFD)."""
    return text if text.isascii() or len(text) > LONGEST else unicodedata.normalize("NFD", text)


def plain(text: str) -> str:
    """The text in small letters without accents: `Łódź` is `lodz`, `Straße` is `strasse`."""
    if text.isascii():
        return text.lower()
    if len(text) > LONGEST:
        return text.casefold()
    folded = unicodedata.normalize("NFKD", text).casefold()  # which leaves some letters composed
    letters = unicodedata.normalize("NFKD", folded).translate(UNDECOMPOSED)
    return "".join(filterfalse(unicodedata.combining, letters))


def prepared_password(text: str) -> str:
    """A password as it is hashed and compared, whichever keyboard typed it (OpaqueString of RFC 8265): its letters
    are composed, and each blank is that of ASCII.
    """
    if text.isascii():
        return text
    return composed_text("".join(" " if unicodedata.category(each) == "Zs" else each for each in text))
