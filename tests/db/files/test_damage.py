"""Tests of files that are damaged, missing, foreign or too new: reported in one line, and not changed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import Home, hashes
from wmsd.db.engine.sqlite import connect, sqlite3

Damage = Callable[[Path], object]


def cut_to(size: int) -> Damage:
    return lambda path: path.write_bytes(path.read_bytes()[:size])


def overwrite(start: int, length: int) -> Damage:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[start : start + length] = b"\xa5" * length
        path.write_bytes(content)

    return damage


def foreign(path: Path) -> None:
    """Replace the file by a database of another program."""
    path.unlink()
    with sqlite3.connect(str(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()


def newer(path: Path) -> None:
    with sqlite3.connect(str(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()


DAMAGES: dict[str, tuple[Damage, str]] = {
    "garbage": (
        lambda path: path.write_bytes(b"not a database\n" * 4000),
        "cannot be used: file is not a database.",
    ),
    "a text": (lambda path: path.write_bytes(b"short"), "cannot be used: file is not a database."),
    "empty": (cut_to(0), " of wmsd. It was not changed. Restore the file from a backup."),
    "only a header": (cut_to(100), "a backup."),
    "one page": (cut_to(4096), "a backup."),
    "half": (cut_to(40_960), "a backup."),
    "the last page": (lambda path: cut_to(path.stat().st_size - 4096)(path), "a backup."),
    "the header": (overwrite(0, 100), "cannot be used: file is not a database."),
    "the schema": (overwrite(100, 3000), "a backup."),
    "a foreign one": (foreign, " of wmsd. It was not changed. Restore the file from a backup."),
    "a newer one": (newer, "written by a newer version of wmsd (schema 999; this version knows schemas up to "),
}
COMMANDS = (
    ("serve",),
    ("company", "list"),
    ("token", "list"),
    ("company", "create", "NEW", "--name", "New", "--init"),
)


@pytest.fixture
def copy(home: Home, shared: Home) -> Home:
    """Return a copy of the installation that a test can damage."""
    shutil.copytree(shared.data, home.data)
    shutil.copy(shared.folder / "token", home.folder)
    return home


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_platform(copy: Home, name: str) -> None:
    damage, sentence = DAMAGES[name]
    damage(copy.data / "platform.db")
    before = hashes(copy.data)
    for command in COMMANDS:
        refused = copy.refused(*command)
        assert refused.startswith(f"{copy.data}/platform.db ")
        assert sentence in refused
        assert hashes(copy.data) == before


def test_a_platform_with_damage_inside(copy: Home) -> None:
    path = copy.data / "platform.db"
    for page in range(2, path.stat().st_size // 4096):
        content = path.read_bytes()
        overwrite(page * 4096, 4096)(path)
        before = hashes(copy.data)
        said = copy.refused("serve")
        assert said.startswith(
            (f"{copy.data}/platform.db is damaged: ", f"{copy.data}/platform.db cannot be used: ")
        ), page
        assert hashes(copy.data) == before
        path.write_bytes(content)


def test_a_company_in_place_of_the_platform(copy: Home) -> None:
    shutil.copy(copy.data / "companies" / "1.db", copy.data / "platform.db")
    before = hashes(copy.data)
    assert copy.refused("serve").startswith(f"{copy.data}/platform.db is not a platform file of wmsd.")
    assert hashes(copy.data) == before


def test_a_platform_that_is_a_folder(copy: Home) -> None:
    (copy.data / "platform.db").unlink()
    (copy.data / "platform.db").mkdir()
    for command in COMMANDS:
        assert copy.refused(*command).startswith(
            f"{copy.data}/platform.db cannot be used, because it is not a file. "
        )


def test_companies_without_their_platform(copy: Home) -> None:
    (copy.data / "platform.db").unlink()
    before = hashes(copy.data)
    for command in (("serve",), ("company", "create", "NEW", "--name", "New", "--init"), ("company", "list")):
        assert copy.refused(*command) == (
            f"{copy.data} has files of companies (1.db …), but no platform.db. Nothing was changed. If you "
            "have a copy of platform.db, put it back with its platform.db-wal, or name another "
            "folder with "
            f"--data. There is no backup of this installation in {copy.folder / 'data-backups'}. Look for a "
            "backup elsewhere, and keep the companies' files: they contain all records. Restore only "
            "platform.db; the companies' files stay unchanged: wmsd backup restore FILE --only-platform"
        )
    assert hashes(copy.data) == before


def begin_of(place: str, path: Path) -> int:
    """Return the offset of the first page of a table or index."""
    connection = connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (place,)).fetchone()
    connection.close()
    return (int(page) - 1) * 4096


def test_the_doctor_has_a_verdict_for_each_company(copy: Home) -> None:
    """The doctor has a verdict for each company.

    The first and the last company are whole. All other companies are damaged, each in another way.
    """
    table, index = "table stock_movements", "index stock_movements_by_stock of table stock_movements"
    examined: dict[str, tuple[Damage, str]] = {
        **{
            name: DAMAGES[name]
            for name in ("garbage", "a text", "empty", "the header", "a foreign one", "a newer one")
        },
        "missing": (Path.unlink, " is missing. Restore the file from a backup; wmsd does not create it again."),
        "one page": (cut_to(4096), "the end of the file, the list of free pages, the schema; "),
        "half": (cut_to(40_960), "the end of the file, the list of free pages, the schema; "),
        "the schema": (overwrite(100, 3000), "the schema; "),
        "a table": (lambda path: overwrite(begin_of("stock_movements", path), 4096)(path), f", {table}; "),
        "an index": (lambda path: overwrite(begin_of("stock_movements_by_stock", path), 4096)(path), f", {index}"),
        "whole": (Path.exists, "no errors."),
    }
    for place, (damage, _) in enumerate(examined.values(), start=2):
        copy.ok("company", "create", f"C{place}", "--name", "Company", "--all-modules")
        damage(copy.data / "companies" / f"{place}.db")
    before = hashes(copy.data)
    done = copy.run("doctor")
    assert hashes(copy.data) == before
    assert (done.code, "Traceback" in done.err) == (1, False)
    _, platform, acme, *verdicts, installation, _ = done.err.splitlines()
    assert (platform, acme) == ("platform.db: no errors.", "ACME: no errors.")
    assert installation.startswith("Installation: ")
    for place, (verdict, (name, (_, words))) in enumerate(zip(verdicts, examined.items(), strict=True), start=2):
        file = f"{copy.data}/companies/{place}.db"
        assert verdict.startswith(
            (f"C{place}: {file} ", f"C{place}: damaged: {file}, ", f"C{place}: no errors")
        ), name
        assert words in verdict, name
        is_damaged = verdict.startswith(f"C{place}: damaged: ")
        restore = f" Restore the file: wmsd backup restore FILE --company C{place}"
        assert verdict.endswith(restore) or not is_damaged, name
    assert f"C12: {copy.data}/companies/12.db is damaged, {table}: " in done.out
    assert f"C13: {copy.data}/companies/13.db is damaged, {index}: Tree " in done.out

    *entries, _ = json.loads(copy.run("doctor", "--json").out)
    assert [entry["company"] for entry in entries] == [None, "ACME", *(f"C{each}" for each in range(2, 15))]
    assert [entry["company"] for entry in entries if entry["ok"]] == [None, "ACME", "C14"]
    assert all("error" in entry for entry in entries[2:9])
    assert [entry["damage"][-1]["place"] for entry in entries[9:14]] == ["the schema"] * 3 + [table, index]


def test_the_doctor_names_a_company_that_another_program_has_locked(copy: Home) -> None:
    copy.ok("company", "create", "B", "--name", "B")
    locking = connect(copy.data / "companies" / "1.db")
    locking.execute("PRAGMA locking_mode = EXCLUSIVE")
    locking.execute("BEGIN EXCLUSIVE")
    done = copy.run("doctor")
    locking.close()
    _, platform, acme, other, *_ = done.err.splitlines()
    assert acme.startswith(f"ACME: {copy.data}/companies/1.db cannot be used: database is locked. ")
    assert (done.code, platform, other) == (1, "platform.db: no errors.", "B: no errors.")


def test_the_doctor_of_a_damaged_platform_examines_the_companies_too(copy: Home) -> None:
    copy.ok("company", "create", "B", "--name", "B")
    path = copy.data / "platform.db"
    overwrite(begin_of("companies", path), 4096)(path)
    done = copy.run("doctor")
    assert done.err.splitlines()[1].startswith(f"platform.db: damaged: {copy.data}/platform.db, table companies; ")
    assert done.err.splitlines()[2:4] == ["company 1: no errors.", "company 2: no errors."]
    (entry,) = json.loads(copy.run("doctor", "--json", "--company", "ACME").out)
    assert (entry["company"], entry["ok"]) == ("ACME", False)
    assert (
        entry["error"]
        == f"{copy.data}/platform.db cannot be read, so wmsd does not know which file belongs to the company ACME."
    )


def test_damaged_companies_beside_good_ones(copy: Home) -> None:
    """A whole company works normally next to damaged companies. Each damaged company is damaged in another way."""
    damages: dict[str, tuple[Damage, str]] = {
        **DAMAGES,
        "missing": (Path.unlink, " is missing. Restore it from a backup"),
    }
    files: dict[int, Path] = {}
    for place, (damage, _) in enumerate(damages.values(), start=2):
        copy.ok("company", "create", f"C{place}", "--name", "Damaged", "--all-modules")
        files[place] = copy.data / "companies" / f"{place}.db"
        damage(files[place])
    before = hashes(copy.data)
    with copy.serving(env={"WMSD_LIMITS_DATA_PER_MINUTE": "1000", "WMSD_REQUESTS_KEEP": "false"}) as server:
        assert server.get("/api/articles", company=1)[0] == 200
        for company, (name, (_, sentence)) in zip(files, damages.items(), strict=True):
            status, body = server.get("/api/articles", company=company)
            assert (status, body["code"]) == (503, "SERVICE_UNAVAILABLE"), name
            refused = copy.refused("export", "articles", "--company", f"C{company}")
            assert sentence in refused or "malformed" in refused, name
            assert server.get("/api/articles", company=company)[0] == 503
        status, health = server.get("/api/health", token="", company=None)
        assert (status, health["status"]) == (200, "degraded")
        assert health["checks"]["database"]["companies_unavailable"] == len(files)
        copy.ok("import", "articles", "-", "--company", "ACME", stdin="code,name\nA,Apple\n")
        assert len(server.get("/api/articles", company=1)[1]["data"]) == 1
        assert len(server.get("/api/companies", company=None)[1]["data"]) == len(files) + 1
        for company in files:
            assert f"company {company} is unavailable: " in server.log
        assert server.stop() == 0
        assert "Traceback" not in server.log
    after = hashes(copy.data)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} <= {"companies/1.db", "platform.db"}


def test_a_company_is_back_when_its_file_is(copy: Home) -> None:
    path = copy.data / "companies" / "1.db"
    whole = path.read_bytes()
    path.write_bytes(b"garbage")
    with copy.serving() as server:
        assert server.get("/api/articles")[0] == 503
        path.write_bytes(whole)
        server.soon("/api/articles", lambda status, _: status == 200)  # a check of the file may be running
        assert server.get("/api/health", token="", company=None)[1]["status"] == "ok"
