"""Tests of new data folders: in a folder that has other files, one is created only if the user says so."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.backups import back_up, newest_name
from tests.support.command import Home, at_a_terminal, first_day, hashes
from tests.support.newer_wmsd import newer_wmsd

NOBODY_LISTENS = {"WMSD_METRICS_LISTEN": "256.256.256.256:1"}
"""A server that is told to listen at this address creates its folder, and then stops by itself."""
CREATE = ("company", "create", "NEW", "--name", "New", "--init")
SERVE = ("serve", "--listen", "127.0.0.1:0")


@pytest.fixture(autouse=True)
def ends_by_itself(home: Home) -> None:
    home.environment |= NOBODY_LISTENS


def write_foreign_files(home: Home, number: int = 1) -> None:
    for place in range(number):
        home.write(f"photo-{place}.jpg", "not wmsd's")


def is_refused(home: Home, *arguments: str) -> str:
    before = hashes(home.folder)
    sentence = home.refused(*SERVE, *arguments)
    assert hashes(home.folder) == before
    return sentence


def is_made(home: Home, *arguments: str, env: dict[str, str] | None = None, data: str = "data") -> bool:
    """Return True if a start creates the data folder, which must not exist before."""
    assert not (home.folder / data / "platform.db").exists()
    home.run(*SERVE, *arguments, env=env)
    return (home.folder / data / "platform.db").exists()


def test_without_a_terminal_it_says_what_it_found_and_makes_nothing(home: Home) -> None:
    write_foreign_files(home, 214)
    assert is_refused(home) == (
        f"The folder {home.folder} has no wmsd data, but has 214 other files and folders: photo-0.jpg, "
        f"photo-1.jpg, photo-10.jpg, …. Nothing was created. To create the data folder {home.data} anyway, start "
        "with --create. Otherwise start in an empty folder, or name the data folder with --data."
    )
    assert not home.data.exists()
    assert is_made(home, "--create")


def test_a_disk_that_is_not_mounted_gets_no_empty_installation(home: Home) -> None:
    far = home.folder / "mnt" / "disk"
    assert is_refused(home, "--data", str(far / "data")) == (
        f"There is no folder {far} for the data folder data. Nothing was created. If that folder is on a "
        "separate disk, mount the disk. To create both folders, start with --create."
    )
    assert not far.parent.exists()
    assert is_made(home, "--data", str(far / "data"), "--create", data="mnt/disk/data")


def test_data_that_are_gone_are_not_begun_anew(home: Home) -> None:
    first_day(home)
    archive = back_up(home)
    home.data.rename(home.folder / "wmsd.away")
    back = (
        f"{home.data}-backups has 1 backup. If the data is on a separate disk, mount the disk. Otherwise "
        f"wmsd backup restore {archive} restores the data."
    )
    refused = (
        f"The data folder {home.data} is missing. Nothing was created. {back} To start with no data: "
        "wmsd serve --create"
    )
    assert is_refused(home) == refused
    assert home.refused(*CREATE) == refused
    for _ in range(2):  # the second time, the folder is empty, as when a disk is not mounted
        for command in (("status",), ("company", "list"), ("doctor",)):
            assert home.refused(*command) == (
                f"There is no wmsd data in {home.data}. Name another folder with --data. {back}"
            )
        home.data.mkdir(exist_ok=True)
    assert list(home.data.iterdir()) == []
    assert is_made(home, "--create")


def test_the_backup_of_another_installation_is_not_put_in_the_place_of_lost_data(home: Home) -> None:
    """The backup of another installation does not replace lost data.

    The list of an installation's own backups is lost with the data.
    """
    first_day(home)
    shared = home.folder / "data-backups"
    home.ok("backup", "schedule", "--run", "--now")
    other = Home(home.program, home.folder / "elsewhere")
    other.folder.mkdir()
    other.ok("company", "create", "OTHER", "--name", "Other", "--init")
    newest = shared / newest_name()
    other.ok("backup", "create", newest)
    record = (home.data / "backup.json").read_bytes()
    home.data.rename(home.folder / "wmsd.away")
    shows = f"wmsd backup list --folder {shared}"
    for command in (SERVE, CREATE, ("status",)):
        said = home.refused(*command)
        assert f"backups has 2 backups, of several installations: {shows} shows them." in said
        assert "mount the disk. Otherwise restore a backup of this installation: wmsd backup restore FILE." in said
        assert ".tar.gz" not in said
    listed = home.ok("backup", "list", "--folder", str(shared), "--json").json
    assert [row["codes"] for row in listed] == [["ACME"], ["OTHER"]]
    assert len({row["installation"] for row in listed} - {None, "this", "another"}) == 2
    shown = home.ok("backup", "list", "--folder", str(shared)).out
    assert ("ACME" in shown, "OTHER" in shown) == (True, True)
    home.data.mkdir()
    (home.data / "backup.json").write_bytes(record)  # the record lists the installation's own backups
    said = home.refused("status")
    assert ("several" in said, str(newest) in said, ".tar.gz restores the data" in said) == (False, False, True)


def test_one_other_thing_is_enough(home: Home) -> None:
    (home.folder / "Music").mkdir()
    assert "but has one other file or folder: Music. Nothing was created." in is_refused(home)


def test_no_name_steers_the_terminal(home: Home) -> None:
    for name in (b"\x1b[2Jclear", b"line\nwmsd: all is well", b"\xff\xfe"):
        Path(os.fsdecode(bytes(home.folder) + b"/" + name)).touch()
    said = home.run(*SERVE)
    assert (said.code, said.err.count("\n")) == (1, 2)
    assert "3 other files and folders: '\\x1b[2Jclear', 'line\\nwmsd: all is well', '\\udcff\\udcfe'." in said.err


@pytest.mark.parametrize(("answer", "is_there"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_it_asks(home: Home, answer: str, is_there: bool) -> None:
    write_foreign_files(home)
    done = at_a_terminal(home, *SERVE, answers=[answer])
    assert f"The folder {home.folder} has no wmsd data, but has one other file or folder: photo-0.jpg." in done.err
    assert f"Create the data folder {home.data}? [y/N]: " in done.err
    assert (home.data / "platform.db").exists() is is_there
    assert ("wmsd: Nothing was created. Start in an empty folder" in done.err) is not is_there
    assert done.code == 1


def test_nobody_is_asked_twice(home: Home) -> None:
    write_foreign_files(home)
    assert is_made(home, "--create")
    assert "Create the data folder" not in at_a_terminal(home, *SERVE).err


def empty(home: Home) -> None:
    """Leave the home as it is."""


def configured(home: Home) -> None:
    write_foreign_files(home)
    home.run("config", "init")


def downloaded(home: Home) -> None:
    for name in ("wmsd", "wmsd-1.1.0", "wmsd-1.1.0.minisig", "wmsd.previous", ".profile"):
        home.write(name, "")


def used_before(home: Home) -> None:
    """Make it look as if the data folder was moved away."""
    (home.folder / "data-backups").mkdir()
    (home.folder / "data").mkdir()


def begun(home: Home) -> None:
    """Leave a start that was interrupted before platform.db was created."""
    (home.data / "companies").mkdir(parents=True)
    for name in ("server.lock", "borrowers.lock", "platform.db.new", "lost+found", ".gitkeep"):
        (home.data / name).touch()


@pytest.mark.parametrize("prepare", [empty, configured, downloaded, used_before, begun])
def test_no_question_where_nobody_else_is(home: Home, prepare: Callable[[Home], None]) -> None:
    prepare(home)
    assert is_made(home)


def test_no_question_where_its_own_output_goes(home: Home) -> None:
    with (home.folder / "log").open("w") as log:
        home.run_fresh(*SERVE, stdout=log, stderr=log)
    assert (home.data / "platform.db").exists()


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (("--data", "sub/there"), {}),
        ((), {"WMSD_SERVER_DATA": "sub/there"}),
        (("--config", "sub/c.toml"), {}),
    ],
)
def test_no_question_where_the_data_folder_is_named(
    home: Home, arguments: Sequence[str], env: dict[str, str]
) -> None:
    write_foreign_files(home)
    (home.folder / "sub").mkdir()
    home.write("sub/c.toml", '[server]\ndata = "there"\n')
    assert is_made(home, *arguments, env=env, data="sub/there")


def test_a_data_folder_with_other_things_in_it_is_asked_about_though_named(home: Home) -> None:
    (home.folder / "there").mkdir()
    home.write("there/letter.odt", "")
    said = is_refused(home, "--data", "there")
    assert said.startswith(f"The folder {home.folder}/there has no wmsd data, but has one other file or folder")
    assert is_made(home, "--data", "there", "--create", data="there")


def test_what_the_settings_put_there_is_no_stranger(home: Home) -> None:
    home.data.mkdir()
    (home.data / "kept").mkdir()
    env = {"WMSD_BACKUP_FOLDER": "data/kept", "WMSD_LOG_FILE": "data/wmsd.log"}
    assert is_made(home, env=env)


def test_nothing_is_restored_among_other_things(home: Home) -> None:
    first_day(home)
    home.ok("backup", "create", "copy.tar.gz")
    (home.folder / "there").mkdir()
    home.write("there/letter.odt", "")
    before = hashes(home.folder / "there")
    done = home.run("backup", "restore", "--yes", "copy.tar.gz", "--data", "there")
    assert (done.code, done.wrong) == (
        1,
        [
            f"The folder {home.folder}/there has no wmsd data, but has one other file or folder: letter.odt. "
            "Nothing was changed. Name an empty folder with --data."
        ],
    )
    assert hashes(home.folder / "there") == before


def test_asking_for_a_company_is_enough(home: Home) -> None:
    write_foreign_files(home)
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    assert home.ok("company", "list", "--json").json[0]["code"] == "ACME"


def test_the_sources_keep_their_data_beside_them(home: Home) -> None:
    """Sources have their data next to them: `scripts/serve` in a fresh clone asks no question."""
    sources = newer_wmsd(home.folder / "clone")
    (sources / "README.md").touch()
    for place, is_asked in ((sources, False), (home.folder, True)):
        done = home.run_fresh(*SERVE, cwd=place, env={"PYTHONPATH": str(sources)})
        assert ("has no wmsd data" in done.err) is is_asked
        assert (place / "data" / "platform.db").exists() is not is_asked
