"""A backup that lacks a company is marked as incomplete in every place where an admin sees it."""

import shutil
import time
from pathlib import Path

import pytest

from tests.support.backups import back_up, damage
from tests.support.command import Home, first_day
from wmsd.maintenance.backups.last_runs import read_record


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    home.ok("company", "create", "OTHER", "--name", "Other")
    return home


@pytest.fixture
def whole(installation: Home) -> Path:
    return back_up(installation)


@pytest.fixture
def incomplete(installation: Home, whole: Path) -> Path:
    """Make a newer backup after the file of the company OTHER was lost."""
    (installation.data / "companies" / "2.db").rename(installation.folder / "lost.db")
    time.sleep(1.1)  # archive names have a resolution of one second
    assert installation.run("backup", "create").code == 1
    return max((installation.folder / "data-backups").glob("*.gz"))


def test_the_list_names_what_a_backup_lacks(installation: Home, whole: Path, incomplete: Path) -> None:
    rows = installation.ok("backup", "list", "--json").json
    assert [(row["backup"], row["lacks"]) for row in rows] == [(whole.name, []), (incomplete.name, ["OTHER"])]
    header, *_ = installation.ok("backup", "list").out.splitlines()
    assert "lacks" in header
    incomplete.unlink()
    assert "lacks" not in installation.ok("backup", "list").out


def test_where_the_data_are_gone_what_the_newest_backup_lacks_is_said(
    installation: Home, whole: Path, incomplete: Path
) -> None:
    """The newest backup is the one to restore first: the older backup would set back all other companies too."""
    shutil.rmtree(installation.data)
    sentence = installation.refused("company", "list")
    brings = f"wmsd backup restore {incomplete} restores the data"
    assert sentence.endswith(f"{brings}, but not the data of OTHER: the command then says which backup has them.")
    incomplete.unlink()
    assert f"wmsd backup restore {whole} restores the data." in installation.refused("company", "list")


def test_a_restore_says_where_the_company_is_that_it_could_not_bring(
    installation: Home, whole: Path, incomplete: Path
) -> None:
    (installation.folder / "lost.db").rename(installation.data / "companies" / "2.db")
    assert "its file was not changed" in installation.ok("backup", "restore", "--yes", incomplete).err
    shutil.rmtree(installation.data)
    said = installation.ok("backup", "restore", "--yes", incomplete).err
    command = ("backup", "restore", str(whole), "--company", "OTHER")
    assert f"has no file in the data folder. To restore the company: wmsd {' '.join(command)}\n" in said
    installation.ok(*command)
    installation.ok("article", "list", "--company", "OTHER")
    shutil.rmtree(installation.data)
    whole.unlink()
    assert (
        f"No backup in {installation.data}-backups has this company"
        in installation.ok("backup", "restore", "--yes", incomplete).err
    )


def test_the_status_without_a_server_names_a_company_that_has_no_file(installation: Home) -> None:
    assert installation.ok("status", "--json").json["companies"] == 2
    (installation.data / "companies" / "2.db").unlink()
    done = installation.run("status", "--json")
    assert (done.code, done.json["companies"]) == (1, 2)
    assert "The file of OTHER is missing." in done.err


def test_whose_a_backup_is_is_known_beside_a_server_too(installation: Home, whole: Path) -> None:
    foreign = whole.with_name("wmsd-2020-01-01T000000Z.tar.gz")
    other = Home(installation.program, installation.folder / "other")
    other.folder.mkdir()
    shutil.copy(back_up(first_day_of(other)), foreign)
    expected = [(foreign.name, "another"), (whole.name, "this")]
    for is_served in (False, True):
        if is_served:
            with installation.serving():
                rows = installation.ok("backup", "list", "--json").json
                installation.ok("backup", "verify")
        else:
            rows = installation.ok("backup", "list", "--json").json
        assert [(row["backup"], row["installation"]) for row in rows] == expected


def first_day_of(home: Home) -> Home:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    return home


def test_a_list_of_a_new_folder_names_the_one_before(installation: Home) -> None:
    installation.ok("backup", "schedule", "--run", env={"WMSD_BACKUP_EVERY": "day"})
    old = installation.folder / "data-backups"
    [name] = [each.name for each in old.glob("*.gz")]
    env = {"WMSD_BACKUP_FOLDER": str(installation.folder / "new")}
    hint = f"The last backup, {name}, was created in {old}. To list that folder: wmsd backup list --folder {old}"
    assert hint in (listed := installation.ok("backup", "list", env=env)).out + listed.err
    assert installation.refused("backup", "verify", env=env).endswith(hint)


def test_a_proof_says_nothing_of_what_a_copy_was_made_of(installation: Home) -> None:
    installation.ok("backup", "schedule", "--run", env={"WMSD_BACKUP_EVERY": "day"})
    [archive] = (installation.folder / "data-backups").glob("*.gz")
    copy = Path(shutil.copy(archive, installation.folder / "copy.tar.gz"))
    damage(archive)
    assert installation.run("backup", "verify", archive).code == 1
    [made_at] = read_record(installation.data).faulty
    installation.ok("backup", "verify", copy)
    record = read_record(installation.data)
    assert (record.faulty, record.sound) == ([made_at], [])


def test_what_a_file_had_that_nobody_can_read_is_not_known(installation: Home, whole: Path) -> None:
    file = installation.data / "companies" / "2.db"
    file.write_bytes(b"no database" * 1000)
    done = installation.ok("backup", "restore", "--yes", whole, "--company", "OTHER", "--json")
    assert done.json["missing_events"] is None
    assert "wmsd does not know what OTHER had after the backup, because there was no readable file." in done.err
    done = installation.ok("backup", "restore", "--yes", whole, "--company", "OTHER", "--json")
    assert (done.json["missing_events"], "does not know" in done.err) == (0, False)
