"""Shows how the letters of a file were read, where that was guessed."""

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple

from wmsd.imports.csv_rows import Line
from wmsd.imports.one_byte_encodings import other_readings, telling_letters

MOST_CHARACTERS: Final = 60
MOST_ROWS: Final = 10_000
"""In which a sample is looked for."""


class Sample(NamedTuple):
    """A cell, and by encoding how it would be read in others that read the whole file."""

    line: int
    cell: str
    others: Mapping[str, str]


def sample_of(rows: Iterable[Line], encoding: str, others: Collection[str]) -> Sample | None:
    """The first cell that one of the others reads otherwise; without others, the first beyond ASCII."""
    letters = telling_letters(encoding, others)
    for row in islice(rows, MOST_ROWS):
        for cell in row.cells:
            if not cell.isascii() and (found := letters.search(cell)):
                text = _around(cell, found.start())
                return Sample(row.number, text, other_readings(text, encoding, others))
    return None


def _around(cell: str, place: int) -> str:
    """The part of a long cell that has this place."""
    if len(cell) <= MOST_CHARACTERS:
        return cell
    begin = max(0, place - MOST_CHARACTERS // 2)
    return cell[begin : begin + MOST_CHARACTERS]
