"""A file in which an admin has put one word: a token, or a secret that signs."""

from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import check_regular

MOST_READ: Final = 4096
NOT_ONE_WORD: Final = "The file {file} must hold one word of {least} characters or more."
TOO_LONG: Final = "The file {file} holds more than {most} bytes, and must hold one word only."


def word_in(file: Path, least: int) -> str:
    """Raises OSError, and ValueError when it holds no word of so many characters of ASCII, or too much."""
    check_regular(file)
    with file.open("rb") as opened:
        read = opened.read(MOST_READ + 1)
    if len(read) > MOST_READ:
        raise ValueError(TOO_LONG.format(file=file, most=MOST_READ))
    word = read.decode("ascii", "replace").strip()
    if len(word) < least or not word.isascii() or not word.isprintable() or " " in word:
        raise ValueError(NOT_ONE_WORD.format(file=file, least=least))
    return word
