"""Files that are missing, empty, of another type, or that belong to no company."""

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import NOW, as_of, names, situation, told
from wmsd.db.engine.sqlite import connect
from wmsd.maintenance.backups.create import Creation
from wmsd.maintenance.backups.file_snapshots import FromFolder
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.newest_backup import newest_with
from wmsd.maintenance.doctor import folder_files
from wmsd.maintenance.doctor.findings import diagnose


def found(data: Path) -> list[str]:
    return names(folder_files.findings(situation(data)))


def test_nothing_is_found_where_nothing_is_wrong(data: Path) -> None:
    assert names(diagnose(situation(data))) == []


def empty(path: Path) -> None:
    path.write_bytes(b"")


def noise(path: Path) -> None:
    path.write_bytes(b"not a database\n" * 300)


def short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def other_database(path: Path) -> None:
    path.unlink()
    with closing(connect(path, create=True)) as connection:
        connection.execute("CREATE TABLE t (x)")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


BREAKS: list[tuple[Callable[[Path], None], str]] = [
    (Path.unlink, "missing"),
    (empty, "empty"),
    (noise, "foreign"),
    (short, "foreign"),
    (other_database, "foreign"),
    (a_folder, "foreign"),
]


@pytest.mark.parametrize(("breaks", "how"), BREAKS)
def test_a_platform_that_is_none(data: Path, breaks: Callable[[Path], None], how: str) -> None:
    breaks(data / "platform.db")
    assert found(data) == [f"platform-{how}"]


def test_a_missing_platform_names_the_files_beside_it(data: Path) -> None:
    (data / "platform.db").unlink()
    sentence = told(folder_files.findings(situation(data)), "platform-missing")
    assert sentence == f"{data}/platform.db is missing, but there are files of companies: 1.db, 2.db."


@pytest.mark.parametrize(("breaks", "how"), BREAKS)
def test_a_companys_file_that_is_none(data: Path, breaks: Callable[[Path], None], how: str) -> None:
    breaks(data / "companies" / "2.db")
    assert found(data) == [f"company-file-{how}"]
    (finding,) = folder_files.findings(situation(data))
    assert finding.facts["code"] == "B"
    assert finding.remedy.endswith("wmsd backup restore FILE --company B")


def test_the_command_names_the_newest_backup_with_the_company(data: Path) -> None:
    at = situation(data)
    backups = BackupFolder(at.backups)
    Creation(at.folder, FromFolder(at.folder), backups).make("wmsd-2026-11-19T023000Z.tar.gz")
    (data / "companies" / "2.db").unlink()
    Creation(at.folder, FromFolder(at.folder), backups).make("wmsd-2026-11-20T023000Z.tar.gz")
    older, newer = backups.archives()
    assert newest_with(data, at.backups) == str(newer)
    (finding,) = folder_files.findings(at)
    assert finding.remedy == f"Restore the company from a backup: wmsd backup restore {older} --company B"
    (data / "platform.db").unlink()
    remedies = {each.kind.name: each.remedy for each in folder_files.findings(situation(data))}
    assert f"wmsd backup restore {newer} --only-platform. Only" in remedies["platform-missing"]


def test_a_platform_in_the_place_of_a_company(data: Path) -> None:
    shutil.copy(data / "platform.db", data / "companies" / "2.db")
    assert found(data) == ["company-file-foreign"]


def test_a_file_of_no_company_says_whose_it_was(data: Path) -> None:
    shutil.copy(data / "companies" / "2.db", data / "companies" / "7.db")
    at = situation(data)
    assert names(folder_files.findings(at)) == ["company-unknown"]
    assert told(folder_files.findings(at), "company-unknown").endswith("The company named in the file: B.")
    noise(data / "companies" / "7.db")
    assert told(folder_files.findings(at), "company-unknown").endswith("The company named in the file: nobody.")


def test_an_older_platform_does_not_know_the_newer_company(data: Path) -> None:
    with closing(connect(data / "platform.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM companies WHERE id = 2")
    assert found(data) == ["company-unknown"]


@pytest.mark.parametrize("name", ["1.db.bak", "1 (copy).db", "notes.txt", "٣.db", "01.db", "1.DB"])
def test_a_file_that_is_not_of_wmsd(data: Path, name: str) -> None:
    (data / "companies" / name).write_bytes(b"x")
    assert found(data) == ["file-stray"]


@pytest.mark.parametrize("name", ["1.db-wal", "1.db-shm", "3.db.new", "1.db.removed-2026-11-20T120000.000Z"])
def test_what_wmsd_and_sqlite_put_there_is_not_told(data: Path, name: str) -> None:
    (data / "companies" / name).write_bytes(b"")
    assert found(data) == []


def test_a_restore_that_was_cut_off(data: Path) -> None:
    (data / "swap.json").write_text(json.dumps([]))
    assert found(data) == ["restore-unfinished"]


def test_a_thousand_files_of_nobody_are_not_all_told(data: Path) -> None:
    for number in range(100, 200):
        (data / "companies" / f"{number}.db").write_bytes(b"")
    as_of(data, NOW)
    assert names(diagnose(situation(data))) == ["company-unknown"] * 20


def test_the_files_of_two_companies_in_each_others_place(data: Path) -> None:
    """One finding describes both files, and says how to correct them."""
    first, second = data / "companies" / "1.db", data / "companies" / "2.db"
    first.rename(data / "kept")
    second.rename(first)
    (data / "kept").rename(second)
    (swapped,) = list(folder_files.findings(situation(data)))
    assert swapped.sentence == (
        f"The files of the companies ACME and B are swapped: {first} belongs to B, and {second} belongs to ACME."
    )
    assert swapped.remedy.startswith("Stop the server, and exchange the names of the two files")
