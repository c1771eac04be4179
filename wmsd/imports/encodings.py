"""Detects the text encoding of a file from its bytes.

If the encoding is a guess, a sample cell shows the user how the letters of the file were read.
"""

import codecs
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import IO, Final, NamedTuple

from wmsd.imports.csv_rows import Line, Unreadable
from wmsd.imports.one_byte_encodings import DOS, Letters, distinguishing_letters, other_readings

ENCODINGS: Final[Mapping[str, str]] = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "windows-1250": "Windows-1250",
    "windows-1252": "Windows-1252",
    "iso-8859-2": "ISO 8859-2",
    "cp852": "CP852",
    "cp850": "CP850",
    "mac-roman": "Mac Roman",
}
"""The encodings that a user can choose, with their names for people."""
GUESSABLE: Final = ("utf-8", "windows-1250", "windows-1252")
"""The encodings that an error may suggest, if they can read the file. An error does not suggest other encodings,
because they can read almost every file.
"""
MARKED: Final = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
OTHER_FILES: Final = {
    b"PK\x03\x04": "is an Excel workbook (.xlsx) or another zip file",
    b"\xd0\xcf\x11\xe0": "is an Excel workbook (.xls)",
    b"\x1f\x8b": "is compressed",
    b"%PDF": "is a PDF",
    b"\x28\xb5\x2f\xfd": "is compressed",
}
"""Files that are not text: their first bytes, and how an error describes them."""
SAVE_AS: Final = "Save the file as CSV UTF-8, then choose the new file."
BLOCK: Final = 64 * 1024


class Encoding(NamedTuple):
    """An encoding of a file.

    If the encoding is a guess, `others` are the other possible encodings, which give different letters.
    `is_doubtful` is True if the guess is probably wrong, because most non-ASCII characters are not letters in this
    encoding. Files from DOS are an example.
    """

    name: str
    others: tuple[str, ...] = ()
    is_doubtful: bool = False


def encoding_of(file: IO[bytes], chosen: str | None) -> Encoding:
    """Return the encoding of the file. A byte order mark decides first, then the user's choice `chosen`. If both
    are missing, detect the encoding from the bytes.

    Raise Unreadable if the file is not text, and WrongEncoding if the user must choose the encoding.
    """
    file.seek(0)
    beginning = file.read(4)
    for begins, is_other in OTHER_FILES.items():
        if beginning.startswith(begins):
            raise Unreadable(f"the file {is_other}, not CSV. {SAVE_AS}")
    for mark, encoding in MARKED.items():
        if beginning.startswith(mark):
            return Encoding(encoding)
    if chosen is not None:
        return Encoding("utf-16-le" if chosen == "utf-16" else chosen)
    return _of_bytes(file)


def _of_bytes(file: IO[bytes]) -> Encoding:
    """Detect the encoding from the bytes of the file.

    The result is UTF-8 if the whole file is valid UTF-8. Raise Unreadable if the file mixes UTF-8 with another
    encoding, or is not text. Raise WrongEncoding if no encoding is likely.
    """
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    wrong = right = 0
    letters = Letters()
    first_wrong = line = 0
    while True:
        block = file.read(BLOCK)
        text = decoder.decode(block, final=not block)
        if "\0" in text:
            number = line + text.partition("\0")[0].count("\n") + 1
            raise Unreadable(f"line {number} has a byte of value 0, so the file is not text. {SAVE_AS}")
        if not text.isascii():
            bad = text.count("\ufffd")
            if bad and not first_wrong:
                first_wrong = line + text.partition("\ufffd")[0].count("\n") + 1
            wrong += bad
            right += sum(not each.isascii() for each in text) - bad
            if wrong:
                letters.count(block)
        line += text.count("\n")
        if not block:
            break
    if not wrong:
        return Encoding("utf-8")
    if right >= wrong:
        raise Unreadable(f"line {first_wrong} is not UTF-8 text, but other lines are. {SAVE_AS}")
    found = letters.encoding()
    if letters.fit_none(found):
        raise _fits_none(file, first_wrong, (*DOS, found))
    return Encoding(found, letters.others(found), letters.are_few(found))


def _fits_none(file: IO[bytes], number: int, choices: tuple[str, ...]) -> "WrongEncoding":
    """Return an error that asks the user to choose the encoding. The error shows how line `number` reads in each
    encoding of `choices`.
    """
    file.seek(0)
    line = next(islice(file, number - 1, None), b"").strip()
    begin = max(0, next((place for place, byte in enumerate(line) if byte > 0x7F), 0) - MOST_CHARACTERS // 2)
    part = line[begin : begin + MOST_CHARACTERS]
    readings = [f'"{part.decode(each, "replace")}" in {ENCODINGS[each]}' for each in choices]
    return WrongEncoding(
        f"the encoding of the file is not clear: line {number} reads {', '.join(readings)}. Choose the "
        "encoding of the file, or save the file as CSV UTF-8.",
        list(choices),
    )


class WrongEncoding(Unreadable):
    """The error for a file that is not text in the chosen or detected encoding. `others` are the encodings that
    the user can choose instead.
    """

    def __init__(self, sentence: str, others: list[str]) -> None:
        super().__init__(sentence)
        self.others = others


def not_readable(file: IO[bytes], encoding: str) -> WrongEncoding:
    """Return the error for a file that is not text in `encoding`.

    The error names the line, and the encodings that can read the file.
    """
    line = _first_wrong_line(file, encoding) or 1
    name = ENCODINGS.get(encoding, "UTF-16" if "16" in encoding else "UTF-8")
    others = [each for each in GUESSABLE if ENCODINGS[each] != name and _first_wrong_line(file, each) is None]
    if "utf-8" in others:  # text that is valid UTF-8 is hardly ever in another encoding
        others = ["utf-8"]
    if not others:
        return WrongEncoding(f"line {line} is not {name} text. {SAVE_AS}", others)
    can = ", ".join(ENCODINGS[each] for each in others)
    return WrongEncoding(
        f"line {line} is not {name} text, but the file can be read as {can}. Choose the encoding of the "
        "file, or save the file as CSV UTF-8.",
        others,
    )


def _first_wrong_line(file: IO[bytes], encoding: str) -> int | None:
    """Return the number of the first line that is invalid in `encoding`, or None if the whole file is valid."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    line = 1
    while True:
        block = file.read(BLOCK)
        try:
            line += decoder.decode(block, final=not block).count("\n")
        except UnicodeDecodeError as error:
            return line + error.object[: error.start].decode(encoding, "replace").count("\n")
        if not block:
            return None


MOST_CHARACTERS: Final = 60
MOST_ROWS: Final = 10_000
"""The most rows that are searched for a sample."""


class Sample(NamedTuple):
    """A cell that shows the user how the file was decoded. `others` has the text of this cell in each other
    possible encoding.
    """

    line: int
    cell: str
    others: Mapping[str, str]


def sample_of(rows: Iterable[Line], encoding: str, others: Collection[str]) -> Sample | None:
    """Return the first cell that has a different text in one of the encodings `others`, or None if there is no
    such cell.

    If `others` is empty, return the first cell that is not ASCII.
    """
    letters = distinguishing_letters(encoding, others)
    for row in islice(rows, MOST_ROWS):
        for cell in row.cells:
            if not cell.isascii() and (found := letters.search(cell)):
                text = _around(cell, found.start())
                return Sample(row.number, text, other_readings(text, encoding, others))
    return None


def _around(cell: str, place: int) -> str:
    """Return the cell or, if it is long, the part of the cell around the character at `place`."""
    if len(cell) <= MOST_CHARACTERS:
        return cell
    begin = max(0, place - MOST_CHARACTERS // 2)
    return cell[begin : begin + MOST_CHARACTERS]
