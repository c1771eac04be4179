"""Tests of empty lines: they come with the line before them, and rows and numbers equal those of
Python's reader.
"""

import csv
import io
import random
import time

import pytest

from wmsd.imports import file_form
from wmsd.imports.csv_rows import Unreadable, split
from wmsd.imports.file_form import lines_of

PIECES = ["\n", "\r\n", "\r", "\n\n", "\r\r\n", "\n\r", "a", "b,", "x", " ", '"', '"q\n\n"']
Rows = list[tuple[int, list[str]]]


def read(text: str) -> Rows | None:
    """Return the rows, or None if the text is no CSV."""
    try:
        return [(row.number, row.cells) for row in split(lines_of(io.BytesIO(text.encode()), "utf-8"), ",")]
    except Unreadable:
        return None


def as_python_reads(text: str) -> Rows | None:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    numbered = enumerate(rows, start=1)
    return [(number, row) for number, row in numbered if number == 1 or any(cell.strip() for cell in row)]


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 65_536])
def test_rows_and_their_numbers_are_as_python_reads_them(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_form, "PIECE", piece)
    chance = random.Random(piece)
    for _ in range(2000):
        text = "h,i" + chance.choice(PIECES[:6]) + "".join(chance.choices(PIECES, k=chance.randint(1, 14)))
        found, expected = read(text), as_python_reads(text)
        if found is None or expected is None:
            assert found == expected, text
            continue
        assert [number for number, _ in found] == [number for number, _ in expected], text
        ours = [[cell for cell in cells if cell] for _, cells in found[1:]]
        assert ours == [[cell for cell in cells if cell] for _, cells in expected[1:]], text


def test_empty_lines_are_passed_over_as_quickly_as_they_are_read() -> None:
    """Empty lines are skipped as quickly as they are read.

    One by one they took 1 microsecond each, in each of several readings.
    """
    file = io.BytesIO(b"h,i\n" + b"\n" * 5_000_000 + b"a,b\n")
    began = time.process_time()
    rows = [(row.number, row.cells) for row in split(lines_of(file, "utf-8"), ",")]
    assert rows == [(1, ["h", "i"]), (5_000_002, ["a", "b"])]
    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["\n" * 200_000, "sep=;\n" + "\r\n" * 200_000])
def test_a_file_of_empty_lines_has_a_header_of_no_names(text: str) -> None:
    """A file of empty lines has a header without names, so it is refused before its rows are read."""
    assert next(iter(split(lines_of(io.BytesIO(text.encode()), "utf-8"), ","))).cells == []


def test_what_cannot_be_read_is_told_with_its_line() -> None:
    for wrong, sentence in (("a\0b", "has a byte of value 0"), ("x" * 5_000_000, "is longer than")):
        file = io.BytesIO(("h\n\n\nA\r\n\r\n" + wrong).encode())
        with pytest.raises(Unreadable, match=f"^line 6 {sentence}"):
            list(lines_of(file, "utf-8"))
    with pytest.raises(Unreadable, match=r"^line 6: a quotation mark opens here and is never closed"):
        list(split(lines_of(io.BytesIO(b'h\n\n\nA\n\n"B\n\n\nC\n'), "utf-8"), ","))
