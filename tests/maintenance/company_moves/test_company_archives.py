"""The archive of a deleted company in a folder of backups: how it is listed, and how the company is restored."""

import shutil
from pathlib import Path

import pytest

from tests.support.backups import back_up, damage
from tests.support.command import Home, first_day, hashes
from tests.support.forked import Program


@pytest.fixture(scope="module")
def made(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Create a home from which the company GONE was deleted. Each test starts with a copy of the home."""
    home = first_day(Home(program, tmp_path_factory.mktemp("made")))
    home.ok("company", "create", "GONE", "--name", "Gone Ltd", "--all-modules")
    home.ok("company", "delete", "GONE", "--yes")
    return home


@pytest.fixture
def home(home: Home, made: Home) -> Home:
    return home.begin_as(made)


@pytest.fixture
def archive(home: Home) -> str:
    """Return the path of the archive, relative to the current folder of the command."""
    [path] = (home.folder / "data-backups" / "archive").glob("*.tar.gz")
    return str(path.relative_to(home.folder))


def codes(home: Home) -> list[str]:
    return [row["code"] for row in home.ok("company", "list", "--json").json]


def test_the_proof_says_what_it_is_and_what_brings_the_company_back(home: Home, archive: str) -> None:
    done = home.ok("backup", "verify", archive)
    assert f"{archive} is the archive of the company GONE, and has no errors: 1 file," in done.out
    assert "can be restored" not in done.out
    assert f"`wmsd company import {home.folder / archive}` imports the company again." in done.err
    assert home.ok("backup", "verify", archive, "--json").json["company"] == "GONE"
    home.ok("company", "import", archive)
    assert codes(home) == ["ACME", "GONE"]


def test_a_damaged_one_is_not_proven_and_leads_nowhere(home: Home, archive: str) -> None:
    damage(home.folder / archive)
    done = home.run("backup", "verify", archive)
    assert (done.code, f"{archive} is the archive of the company GONE, and has errors" in done.out) == (1, True)
    assert "company import" not in done.err


@pytest.mark.parametrize("options", [(), ("--company", "GONE"), ("--data", "new")])
def test_a_restore_leads_to_the_import(home: Home, archive: str, options: tuple[str, ...]) -> None:
    before = hashes(home.data)
    said = home.refused("backup", "restore", "--yes", archive, *options)
    if options != ("--data", "new"):
        assert "is the archive of one company, GONE, which is not in this installation now. " in said
        assert f"`wmsd company import {home.folder / archive}` imports the company again." in said
    assert (hashes(home.data), (home.folder / "new").exists()) == (before, False)


@pytest.mark.parametrize("options", [(), ("--company", "ACME")])
def test_where_the_platform_is_damaged_it_is_to_be_restored_first(home: Home, options: tuple[str, ...]) -> None:
    """Without platform.db, wmsd cannot tell whether the company is part of the installation."""
    home.ok("company", "export", "ACME", "acme.tar.gz")
    (home.data / "platform.db").write_bytes(b"noise" * 1000)
    assert home.refused("backup", "restore", "--yes", "acme.tar.gz", *options) == (
        f"{home.data}/platform.db cannot be read, and a company needs it for its restore. First "
        "restore only platform.db; the companies' files stay unchanged: wmsd backup restore FILE --only-platform"
    )


def test_a_company_that_is_there_goes_back_to_its_export(home: Home) -> None:
    home.ok("company", "export", "ACME", "acme.tar.gz")
    assert "it can only restore a company (--company CODE)" in home.refused(
        "backup", "restore", "--yes", "acme.tar.gz"
    )
    home.ok("backup", "restore", "acme.tar.gz", "--company", "ACME", "--yes")


def test_a_refused_restore_leaves_nothing_of_a_new_folder(home: Home) -> None:
    backup = back_up(home)
    damage(backup)
    empty = home.folder / "empty"
    empty.mkdir()
    for folder in ("new/inner", "empty"):
        home.refused("backup", "restore", "--yes", backup, "--data", folder)
    assert (list(empty.iterdir()), (home.folder / "new").exists()) == ([], False)


def test_what_stands_in_the_folder_already_stays(home: Home) -> None:
    backup = back_up(home)
    damage(backup)
    folder = home.folder / "begun"
    (folder / "tls").mkdir(parents=True)
    home.refused("backup", "restore", "--yes", backup, "--data", folder)
    assert [path.name for path in folder.iterdir()] == ["tls"]


def test_the_list_leads_to_them_and_says_what_they_are(home: Home, archive: str) -> None:
    empty = home.ok("backup", "list")
    assert f"There is no backup in {home.data}-backups." in empty.err
    folder = home.folder / "data-backups" / "archive"
    assert (
        f"{folder} has 1 archive of a deleted company. To list that folder: wmsd backup list --folder {folder}"
        in empty.err
    )
    back_up(home)
    [row] = home.ok("backup", "list", "--json").json
    assert row["company"] is None
    inside = home.ok("backup", "list", "--folder", "data-backups/archive")
    assert (Path(archive).name in inside.out, "GONE" in inside.out) == (True, True)
    assert "`wmsd company import FILE` brings a company back." in inside.err
    [row] = home.ok("backup", "list", "--folder", "data-backups/archive", "--json").json
    assert (row["backup"], row["company"], row["installation"]) == (Path(archive).name, "GONE", "this")


def test_a_list_without_archives_of_companies_does_not_speak_of_them(home: Home) -> None:
    shutil.rmtree(home.folder / "data-backups" / "archive")
    back_up(home)
    done = home.ok("backup", "list")
    assert ("deleted company" in done.err, "company  installation" in done.out) == (False, False)


def test_a_backup_into_a_folder_that_is_not_there_is_refused(home: Home) -> None:
    said = home.refused("backup", "create", home.folder / "nowhere" / "a.tar.gz")
    assert f"There is no folder {home.folder / 'nowhere'} for the backup." in said
    assert not (home.folder / "nowhere").exists()


def test_the_folder_of_the_settings_is_made_for_a_file_too(home: Home) -> None:
    shutil.rmtree(home.folder / "data-backups")
    home.ok("backup", "create", "data-backups/mine.tar.gz")
    assert (home.folder / "data-backups" / "mine.tar.gz").exists()


def test_a_company_with_the_code_of_a_deleted_one_is_told_from_it(home: Home) -> None:
    saved = back_up(home)
    home.ok("company", "rename", "ACME", "OLD")
    home.ok("company", "delete", "OLD", "--yes")
    assert "The one" not in home.refused("backup", "restore", "--yes", saved, "--company", "ACME")
    home.ok("company", "create", "ACME", "--name", "New")
    sentence = home.refused("backup", "restore", "--yes", saved, "--company", "ACME")
    assert (
        "(id 1) in this installation now. The company with this code now (id 3) is a different company. "
    ) in sentence
