"""Tests of a company's file: it names its company and installation, and is not served elsewhere."""

from contextlib import closing
from pathlib import Path

import pytest

from wmsd.base.clock import OrderedClock, SystemClock
from wmsd.base.ids import RandomIds
from wmsd.base.problems import Problem
from wmsd.db.engine.file_owner import Owner, WrongOwner
from wmsd.db.engine.sqlite import connect
from wmsd.db.files.company_files import CompanyFiles
from wmsd.db.migrations import COMPANY, create_file, migrate

ACME, OTHER = Owner("here", 1, "ACME"), Owner("here", 2, "OTHER")
ELSEWHERE = Owner("elsewhere", 1, "ACME")
COUNT = "SELECT count(*) FROM articles"


def owners_in(path: Path) -> list[tuple[object, ...]]:
    with closing(connect(path)) as connection:
        return connection.execute("SELECT installation, company_id, code FROM owner").fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "1.db"


def test_a_new_file_says_whose_it_is(path: Path) -> None:
    create_file(path, COMPANY, ACME)
    assert owners_in(path) == [ACME]
    migrate(path, COMPANY, owner=ACME)
    assert owners_in(path) == [ACME]


def test_a_file_from_before_is_claimed_when_it_is_first_opened(path: Path) -> None:
    create_file(path, COMPANY)
    assert owners_in(path) == []
    migrate(path, COMPANY, owner=ACME)
    assert owners_in(path) == [ACME]


@pytest.mark.parametrize(
    ("owner", "found"),
    [(OTHER, "the file of company ACME (id 1)"), (ELSEWHERE, "the file of company ACME of another installation")],
)
def test_a_file_of_another_is_refused_and_left_as_it_is(path: Path, owner: Owner, found: str) -> None:
    create_file(path, COMPANY, ACME)
    before = path.read_bytes()
    with pytest.raises(WrongOwner) as refused:
        migrate(path, COMPANY, owner=owner)
    assert str(refused.value) == (
        f"{path} is {found}, but must be the file of {owner.code} (id {owner.company_id}). "
        f"The file was not changed. Put back the file of {owner.code}, or restore that company from a backup."
    )
    assert path.read_bytes() == before


def test_who_does_not_know_the_owner_may_look_all_the_same(path: Path) -> None:
    create_file(path, COMPANY, ACME)
    migrate(path, COMPANY)
    assert owners_in(path) == [ACME]


async def test_files_that_were_swapped_are_served_to_nobody(tmp_path: Path) -> None:
    codes = {1: "ACME", 2: "OTHER", 3: "THIRD"}
    files = CompanyFiles(tmp_path, OrderedClock(SystemClock()), RandomIds(), {}, installation="here")
    for company_id, code in codes.items():
        files.create(company_id, code)
    await files.close()
    aside = tmp_path / "aside"
    files.path(1).rename(aside)
    files.path(2).rename(files.path(1))
    aside.rename(files.path(2))

    files = CompanyFiles(tmp_path, OrderedClock(SystemClock()), RandomIds(), {}, installation="here", codes=codes)
    assert await files.read_each([1, 2, 3], lambda tx: tx.value(COUNT)) == {3: 0}
    for company_id, found in ((1, "OTHER (id 2)"), (2, "ACME (id 1)")):
        with pytest.raises(Problem) as refused:
            await files.get(company_id)
        assert (refused.value.status, refused.value.code) == (503, "SERVICE_UNAVAILABLE")
        assert (
            f"is the file of company {found}, but must be the file of {codes[company_id]}"
            in files.failed[company_id]
        )
    assert await (await files.get(3)).read(lambda tx: tx.value(COUNT)) == 0

    files.path(1).rename(aside)
    files.path(2).rename(files.path(1))
    aside.rename(files.path(2))
    for company_id in (1, 2):
        assert await (await files.get(company_id)).read(lambda tx: tx.value(COUNT)) == 0
    assert files.failed == {}
    await files.close()
