"""The contents name every page once, in reading order."""

from pathlib import Path

from wmsd import docs
from wmsd.interfaces.guide.contents import FIRST, ORDER, READERS, WEIGHTS, neighbours

FILES = {file.stem for file in Path(docs.__file__).parent.glob("*.md")}
MADE = {"settings", "columns", "commands", "record-commands"}


def test_each_page_stands_in_them_once() -> None:
    assert sorted(ORDER) == sorted(FILES | MADE)
    assert set(ORDER) >= WEIGHTS.keys()


def test_each_reader_has_three_pages_to_begin_with() -> None:
    assert [len(reader.most_wanted) for reader in READERS] == [3, 3, 3, 3]


def test_reading_on_leads_through_all_pages_and_back() -> None:
    forwards, page = [FIRST], neighbours(FIRST)[1]
    while page is not None:
        forwards.append(page)
        page = neighbours(page)[1]
    assert forwards == list(ORDER)
    assert [neighbours(page)[0] for page in forwards] == [None, *forwards[:-1]]
