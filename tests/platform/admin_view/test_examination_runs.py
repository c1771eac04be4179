"""Each file of the installation gets its own report, whatever part of a company's file is damaged."""

import random
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.shop import open_shop
from tests.support.thorough import IS_THOROUGH
from tests.support.world import UNLIMITED, open_world
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.sqlite import connect
from wmsd.maintenance.doctor.examine import Examination, Report

PAGE = 4096


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[DataFolder]:
    """Create the companies 1 (ACME), with pages of every kind in its file, and 2 (B)."""
    data = tmp_path / "data"
    async with open_world(data, UNLIMITED) as world:
        shop = await open_shop(world)
        for _ in range(3):
            await shop.order(status="LIVRAT", notes="șțî" * 1300)
        many = "".join(f"MANY-{number:04},{'long-name' * 20}\n" for number in range(400))
        await world.import_csv("articles", f"code,name\n{many}")
        await (await world.database()).write(lambda tx: tx.execute("DELETE FROM events"))
        await world.new_company("B")
    yield DataFolder(data)


def examined(folder: DataFolder) -> list[Report]:
    """Examine all files in the way `wmsd doctor` does."""
    examination = Examination(folder)
    examination.companies()
    return [examination.platform(), *(examination.company(*company) for company in examination.known_companies())]


def roots(file: Path) -> dict[int, str]:
    """Return a description of the table or index that starts at each root page."""
    with closing(connect(file)) as connection:
        rows = connection.execute("SELECT rootpage, type, name, tbl_name FROM sqlite_schema WHERE rootpage > 0")
        return {
            root: f"{kind} {name}" if kind == "table" else f"index {name} of table {table}"
            for root, kind, name, table in rows
        }


def free_pages(content: bytes) -> set[int]:
    """Return the numbers of the free pages, by https://sqlite.org/fileformat2.html#the_freelist."""

    def number(place: int) -> int:
        return int.from_bytes(content[place : place + 4], "big")

    free: set[int] = set()
    trunk = number(32)
    while trunk:
        start = (trunk - 1) * PAGE
        free |= {trunk, *(number(start + 8 + 4 * each) for each in range(number(start + 4)))}
        trunk = number(start)
    return free


def test_every_page_overwritten_with_noise(folder: DataFolder) -> None:
    """Noise in a free page is not damage, unless that page lists other free pages."""
    file = folder.companies / "1.db"
    whole, beginnings = file.read_bytes(), roots(file)
    free, pages = free_pages(whole), len(whole) // PAGE
    assert free
    assert pages > len(beginnings) + len(free) + 50  # some pages lie below the roots
    assert all(report.is_right for report in examined(folder))
    for page in range(1, pages + 1, 1 if IS_THOROUGH else 3):
        start = 100 if page == 1 else (page - 1) * PAGE  # without its header, the file is not a database at all
        noise = random.Random(page).randbytes(page * PAGE - start)
        file.write_bytes(whole[:start] + noise + whole[page * PAGE :])
        platform, damaged, other = examined(folder)
        assert (platform.is_right, other.is_right, other.name) == (True, True, "B")
        assert damaged.findings is not None, page
        places = [damage.place for damage in damaged.findings.damages]
        assert places or page in free, page
        if page in beginnings:
            assert beginnings[page] in places, page


def test_what_is_not_damaged_is_still_proved(folder: DataFolder) -> None:
    file = folder.companies / "1.db"
    page = next(page for page, name in roots(file).items() if name == "table packaging_movements")
    with closing(connect(file)) as connection:
        connection.execute("UPDATE stock SET quantity = quantity + 1000000 WHERE id = 1")
    with file.open("r+b") as opened:
        opened.seek((page - 1) * PAGE)
        opened.write(b"\xa5" * PAGE)
    findings = Examination(folder).company(1, "ACME").findings
    assert findings is not None
    assert [damage.place for damage in findings.damages] == ["table packaging_movements"]
    assert [(each.record, each.expected, each.found) for each in findings.differences] == [
        ("A in MAIN", "11", "12")
    ]
    assert findings.unproved
    assert {each.reason for each in findings.unproved} == {"database disk image is malformed"}


def test_a_list_of_free_pages_that_is_noise_is_named(folder: DataFolder) -> None:
    file = folder.companies / "1.db"
    content = bytearray(file.read_bytes())
    trunk = int.from_bytes(content[32:36], "big")
    content[(trunk - 1) * PAGE : trunk * PAGE] = b"\xa5" * PAGE
    file.write_bytes(content)
    findings = Examination(folder).company(1, "ACME").findings
    assert findings is not None
    assert "the list of free pages" in [damage.place for damage in findings.damages]


@pytest.mark.parametrize("missing", [1, 100, PAGE, 20 * PAGE])
def test_a_file_that_is_cut_short(folder: DataFolder, missing: int) -> None:
    """SQLite itself does not notice that the end of the last page is missing."""
    file = folder.companies / "1.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:-missing])
    findings = Examination(folder).company(1, "ACME").findings
    assert findings is not None
    pages, left = len(whole) // PAGE, (len(whole) - missing) // PAGE
    assert findings.damages[0].place == "the end of the file"
    assert findings.damages[0].messages == (f"it ends after {left} of {pages} pages",)


def test_companies_are_examined_by_their_files_when_the_platform_does_not_tell_them(folder: DataFolder) -> None:
    folder.platform_file.write_bytes(b"not a database\n" * 4000)
    examination = Examination(folder)
    platform = examination.platform()
    assert platform.error is not None
    assert "platform.db cannot be used: file is not a database." in platform.error
    assert (examination.companies(), examination.known_companies()) == (None, [(1, None), (2, None)])
    assert [examination.company(each).is_right for each, _ in examination.known_companies()] == [True, True]


def test_files_that_were_swapped_are_found(folder: DataFolder) -> None:
    first, second = folder.companies / "1.db", folder.companies / "2.db"
    aside = folder.path / "aside"
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    platform, *companies = examined(folder)
    assert platform.is_right
    for report, file, found in zip(companies, (first, second), ("B", "ACME"), strict=True):
        assert report.error == f"{file} is the file of {found}: the files of the two companies are swapped."
