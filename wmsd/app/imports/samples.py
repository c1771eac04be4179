"""Shows how the letters of a file were read, where that was guessed."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.app.csv_rows import Line
from wmsd.app.imports.alphabets import LANGUAGES, readings

MOST_CHARACTERS: Final = 60


class Sample(NamedTuple):
    """A cell, and by encoding how it would be read in others that read the file."""

    line: int
    cell: str
    others: Mapping[str, str]


def sample_of(rows: Iterable[Line], encoding: str) -> Sample | None:
    """The first cell that other encodings read otherwise; or else the first one with a letter beyond ASCII."""
    first: Sample | None = None
    for row in rows:
        for cell in row.cells:
            if not cell.isascii() and any(each.isalpha() for each in cell if not each.isascii()):
                sample = _sample(row.number, cell, encoding)
                if sample.others:
                    return sample
                first = first or sample
    return first


def is_guess(encoding: str, chosen: str | None) -> bool:
    """Whether it may be another one: no mark at the beginning shows it, and its letters do not either."""
    return chosen is None and encoding in LANGUAGES


def _sample(line: int, cell: str, encoding: str) -> Sample:
    text = _around(cell, next(place for place, each in enumerate(cell) if not each.isascii()))
    return Sample(line, text, readings(text, encoding))


def _around(cell: str, place: int) -> str:
    """The part of a long cell that has this place."""
    if len(cell) <= MOST_CHARACTERS:
        return cell
    begin = max(0, place - MOST_CHARACTERS // 2)
    return cell[begin : begin + MOST_CHARACTERS]
