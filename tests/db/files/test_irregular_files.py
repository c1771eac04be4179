"""Tests of a company's file that is replaced by something that is no file: nobody waits for it, and other
companies work.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import Home, first_day

REPLACEMENTS: tuple[tuple[Callable[[Path], None], str], ...] = (
    (os.mkfifo, "it is not a regular file"),
    (Path.mkdir, "is a directory"),
)
pytestmark = pytest.mark.parametrize(("replace", "reason"), REPLACEMENTS, ids=["fifo", "folder"])


def with_replaced_file(home: Home, replace: Callable[[Path], None]) -> Home:
    first_day(home)
    home.ok("company", "create", "B", "--name", "B")
    for file in home.data.glob("companies/2.db*"):
        file.unlink()
    replace(home.data / "companies" / "2.db")
    return home


def test_doctor_finds_it_and_examines_the_others(home: Home, replace: Callable[[Path], None], reason: str) -> None:
    done = with_replaced_file(home, replace).run("doctor")
    assert done.code == 1
    assert f"Error: {home.data}/companies/2.db of company B is not a company file of wmsd." in done.out
    assert f"{home.data}/companies/2.db cannot be used, because it is not a file." in done.err
    assert "ACME: no errors" in done.err


def test_a_backup_is_made_without_it(home: Home, replace: Callable[[Path], None], reason: str) -> None:
    done = with_replaced_file(home, replace).run("backup", "create")
    assert done.code == 1
    assert f"B is not in the backup: {home.data}/companies/2.db cannot be read: {reason}." in done.err
    assert "companies  1\n" in done.out


def test_both_beside_a_server(home: Home, replace: Callable[[Path], None], reason: str) -> None:
    with with_replaced_file(home, replace).serving():
        doctor, backup = home.run("doctor"), home.run("backup", "create")
    assert (doctor.code, backup.code) == (1, 1)
    assert f"{home.data}/companies/2.db cannot be used, because it is not a file." in doctor.err
    assert "B is not in the backup: " in backup.err
