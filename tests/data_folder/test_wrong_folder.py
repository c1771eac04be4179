"""Tests of the errors for a folder that is no data folder, or that belongs to another user."""

import os

import pytest

from tests.support.command import ANY_PORT, Home
from tests.support.privileges import AS_ROOT

OWNER = 1234
"""The number of a user without a name."""
AS_ANY_USER = (
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
)
"""A command that runs as root without the capabilities that override file permissions."""
WRITES = (("status",), ("serve",), ("company", "list"), ("backup", "create"))
EMPTY = "There is no wmsd data in {}. Start `wmsd serve` there first"


def create(home: Home, data: str) -> None:
    assert home.run("company", "create", "ACME", "--name", "Acme", "--init", "--data", data).code == 0


def test_a_data_folder_in_the_one_that_was_named_is_told_of(home: Home) -> None:
    create(home, "site one/data")
    instead = f"There is a data folder in that folder: --data '{home.folder}/site one/data'"
    there = home.folder / "site one"
    assert home.refused("status", "--data", "site one") == f"There is no wmsd data in {there}. {instead}"
    assert home.refused("serve", "--data", "site one") == (
        f"The folder {there} has no wmsd data. Nothing was created. To create a data folder there anyway, start "
        f"with --create. {instead}"
    )
    assert [path.name for path in there.iterdir()] == ["data"]
    assert home.run("status", "--data", "site one/data").code == 0


def test_backups_do_not_hide_the_data_folder_either(home: Home) -> None:
    create(home, "site/data")
    assert home.run("backup", "create", "--data", "site/data").code == 0
    for command in ("serve", "status"):
        assert home.refused(command, "--data", "site").endswith(
            f"There is a data folder in that folder: --data {home.folder}/site/data"
        )


def test_archives_beside_the_data_folder_do_not_hide_it(home: Home) -> None:
    create(home, "site/data")
    assert home.run("backup", "create", "site/kept.tar.gz", "--data", "site/data").code == 0
    told = f"There is a data folder in that folder: --data {home.folder}/site/data"
    assert home.refused("doctor", "--data", "site").endswith(told)


def test_a_data_folder_above_the_one_that_was_named_is_told_of(home: Home) -> None:
    create(home, "data")
    for command in ("status", "serve", "doctor"):
        told = home.refused(command, "--data", "data/companies")
        assert told.endswith(f"There is a data folder above that folder: --data {home.data}"), told


def test_one_folder_too_deep_is_noticed(home: Home) -> None:
    create(home, "data")
    deeper = Home(home.program, home.folder / "notes")
    deeper.folder.mkdir()
    deeper.write("notes.txt", "mine")
    told = f"There is a data folder above that folder: --data {home.data}"
    assert deeper.refused("status").endswith(told)
    assert deeper.refused("serve").endswith(told)
    assert deeper.run("status", "--data", "../data").code == 0


def test_where_there_is_none_near_it_says_how_to_make_one(home: Home) -> None:
    assert home.refused("status").startswith(EMPTY.format(home.data))


@pytest.mark.parametrize("command", [("serve",), ("status",), ("doctor",), ("company", "list")])
def test_a_file_is_no_folder(home: Home, command: tuple[str, ...]) -> None:
    home.write("wmsd.db", "mine")
    told = home.refused(*command, "--data", "wmsd.db")
    assert told == f"{home.folder}/wmsd.db is a file, not a data folder. Name a folder with --data."
    assert (home.folder / "wmsd.db").read_text() == "mine"


@AS_ROOT
@pytest.mark.parametrize(
    ("mode", "command"),
    [
        *((0o700, command) for command in (*WRITES, ("doctor",), ("backup", "list"))),
        *((0o755, command) for command in WRITES),  # the doctor examines what it can read
    ],
)
def test_whose_folder_it_is_and_what_to_type(home: Home, command: tuple[str, ...], mode: int) -> None:
    create(home, "data")
    home.data.chmod(mode)
    for path in (home.data, *home.data.rglob("*")):
        os.chown(path, OWNER, OWNER)
    before = sorted(path.name for path in home.data.rglob("*"))
    done = home.run_fresh(*command, under=AS_ANY_USER)
    assert (done.code, done.out) == (1, "")
    assert done.wrong[-1] == (
        f"The data folder {home.data} belongs to the user with the number {OWNER}, and you may not use "
        f"it. Run the command as that user: sudo -u '#{OWNER}' wmsd …"
    )
    assert sorted(path.name for path in home.data.rglob("*")) == before


@AS_ROOT
def test_the_check_of_the_settings_and_the_bundle_say_whose_it_is(home: Home) -> None:
    create(home, "data")
    home.data.chmod(0o700)
    os.chown(home.data, OWNER, OWNER)
    whose = f"The data folder {home.data} belongs to the user with the number {OWNER}, "
    checked = home.run_fresh("config", "check", under=AS_ANY_USER, env=ANY_PORT)
    assert (checked.code, checked.err.count("Error: No server")) == (1, 1)
    assert f"Error: No server can use the data folder now. {whose}" in checked.err
    bundled = home.run_fresh("support-bundle", "a.tar.gz", "--quick", under=AS_ANY_USER)
    assert bundled.code == 0
    assert bundled.err.splitlines()[1].startswith(whose)


@AS_ROOT
def test_settings_that_this_user_may_not_read(home: Home) -> None:
    home.write("config.toml", "")
    (home.folder / "config.toml").chmod(0o600)
    os.chown(home.folder / "config.toml", OWNER, OWNER)
    for named in ((), ("--config", "config.toml")):
        done = home.run_fresh("status", *named, under=AS_ANY_USER)
        told = ["config.toml: you have no permission to read this file. Run the command with sudo."]
        assert (done.code, done.wrong) == (1, told)


@AS_ROOT
def test_whose_the_folder_is_comes_before_what_is_wrong_with_the_log(home: Home) -> None:
    create(home, "data")
    home.data.chmod(0o700)
    os.chown(home.data, OWNER, OWNER)
    done = home.run_fresh("serve", under=AS_ANY_USER, env={"WMSD_LOG_FILE": "nowhere/wmsd.log"})
    assert (done.code, len(done.wrong)) == (1, 1)
    assert done.wrong[0].startswith(f"The data folder {home.data} belongs to the user with the number {OWNER}, ")


@AS_ROOT
def test_a_hidden_folder_of_backups_keeps_nothing_else_from_being_told(home: Home) -> None:
    closed = home.folder / "closed"
    (closed / "backups").mkdir(parents=True)
    closed.chmod(0o700)
    os.chown(closed, OWNER, OWNER)
    home.write("config.toml", f'[backup]\nfolder = "{closed / "backups"}"\n')
    create(home, "data")
    examined = home.run_fresh("doctor", under=AS_ANY_USER)
    assert "could not be examined" not in examined.out + examined.err
    assert f"wmsd cannot write in {closed}, named in backup.folder: permission denied." in examined.out
    shown = home.run_fresh("status", under=AS_ANY_USER)
    assert (shown.code, f"backup folder  {closed / 'backups'}" in shown.out) == (0, True)
    closed.rename(home.folder / "away")
    (closed / "backups").mkdir(parents=True)
    assert home.run("backup", "schedule", "--run").code == 0
    closed.chmod(0o700)
    os.chown(closed, OWNER, OWNER)
    for command in (("status",), ("backup", "schedule")):
        said = home.run_fresh(*command, under=AS_ANY_USER)
        assert (said.code, "his user has no permission to read" in said.err, said.out != "") == (1, True, True)
