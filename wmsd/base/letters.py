"""Letters beyond ASCII. Unicode can write such a letter in several forms: `é` is one character, or an `e` and an
accent.

Texts that are compared exactly are brought into one form. For searches, `plain` removes case and accents.
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
"""Letters that Unicode does not decompose into a plain letter and an accent. Company migration 0035 has the same
list.
"""


LONGEST: Final = 1024
"""The longest text that is normalised, in characters. A longer text stays unchanged, because ordering the accents
of a megabyte takes half an hour. The time grows with the square of the length. No code, name, address, password or
search is longer.
"""


def composed_text(text: str) -> str:
    """Return the text in the form NFC: a letter and its accents become one character, if Unicode has one."""
    return text if text.isascii() or len(text) > LONGEST else unicodedata.normalize("NFC", text)


def decomposed_text(text: str) -> str:
    """Return the text in the form NFD: each accent becomes a separate character after its letter."""
    return text if text.isascii() or len(text) > LONGEST else unicodedata.normalize("NFD", text)


def plain(text: str) -> str:
    """Return the text in small letters without accents: `Łódź` becomes `lodz`, `Straße` becomes `strasse`."""
    if text.isascii():
        return text.lower()
    if len(text) > LONGEST:
        return text.casefold()
    folded = unicodedata.normalize("NFKD", text).casefold()  # casefold leaves some letters composed
    letters = unicodedata.normalize("NFKD", folded).translate(UNDECOMPOSED)
    return "".join(filterfalse(unicodedata.combining, letters))


def prepared_password(text: str) -> str:
    """Return the form of a password that wmsd hashes and compares. The form does not depend on the keyboard.

    Its letters are composed, and each blank becomes an ASCII space (OpaqueString of RFC 8265).
    """
    if text.isascii():
        return text
    return composed_text("".join(" " if unicodedata.category(each) == "Zs" else each for each in text))
