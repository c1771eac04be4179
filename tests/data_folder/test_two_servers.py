"""Tests of two machines that serve copies of the same data and back up into one folder: each machine is told of
the other.
"""

import shutil
import time
from pathlib import Path

import pytest

from tests.support.command import Home, first_day

DAILY = {"WMSD_BACKUP_EVERY": "day"}


@pytest.fixture
def machines(home: Home, tmp_path: Path) -> tuple[Home, Home]:
    """Return two machines. The second has a copy of the first one's data, and the same folder of backups."""
    first = first_day(home)
    (tmp_path / "second").mkdir()
    second = Home(first.program, tmp_path / "second", {"WMSD_BACKUP_FOLDER": str(first.folder / "data-backups")})
    shutil.copytree(first.data, second.data)
    return first, second


def back_up(*machines: Home) -> None:
    for machine in machines:
        begun = int(time.time())
        while int(time.time()) == begun:  # the name of an archive has its second
            time.sleep(0.02)
        machine.ok("backup", "schedule", "--run", "--now", env=DAILY)


def told(machine: Home) -> bool:
    said = machine.run("status").err
    found = machine.run("doctor").out
    assert ("Another server also creates scheduled backups" in said) == (
        "Another server also creates scheduled" in found
    )
    return "Another server also creates scheduled backups" in said


def test_each_is_told_when_they_take_turns(machines: tuple[Home, Home]) -> None:
    first, second = machines
    back_up(first, second, first, second)
    assert (told(first), told(second)) == (False, False), "the data may have moved there and back"
    back_up(first, second)
    assert (told(first), told(second)) == (True, True)
    assert first.run("status").code == 1
    back_up(second)  # the first machine is off
    assert told(second) is False


def test_data_that_moved_there_and_back_are_of_one_server(machines: tuple[Home, Home]) -> None:
    first, second = machines
    back_up(first, second, second, first, first)
    assert (told(first), told(second)) == (False, False)


def test_another_installation_in_the_folder_is_none_of_it(home: Home, tmp_path: Path) -> None:
    first = first_day(home)
    (tmp_path / "second").mkdir()
    second = Home(first.program, tmp_path / "second", {"WMSD_BACKUP_FOLDER": str(first.folder / "data-backups")})
    second.ok("company", "create", "OTHER", "--name", "Other", "--init")
    back_up(first, second, first, second, first, second)
    assert (told(first), told(second)) == (False, False)
