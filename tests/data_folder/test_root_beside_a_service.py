"""Tests of commands that root runs: the files that they create belong to the owner of the data folder, so the
service can read them.
"""

import os
from pathlib import Path

from tests.support.command import EMAIL, PASSWORD, Home
from tests.support.privileges import AS_ROOT

SERVICE = 1234
pytestmark = AS_ROOT


def owners(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_uid for path in folder.rglob("*")}


def all_of_the_service(folder: Path) -> bool:
    found = owners(folder)
    assert found != {}
    return set(found.values()) == {SERVICE}


def test_root_follows_no_link_that_the_service_has_laid(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    of_root = home.write("of-root", "secret")
    for name in ("backup.json.new", ".wmsd-probe", "reserve"):
        (home.data / name).symlink_to(of_root)
    home.ok("backup", "schedule", "--run", "--now")
    with home.serving():
        pass
    assert of_root.read_text(encoding="utf-8") == "secret"


def test_a_data_folder_that_root_makes_is_the_service_s(home: Home) -> None:
    os.chown(home.folder, SERVICE, SERVICE)
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    assert home.data.stat().st_uid == SERVICE
    assert all_of_the_service(home.data), owners(home.data)


def test_what_root_does_in_the_service_s_folder_stays_the_service_s(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    os.chown(home.folder, SERVICE, SERVICE)
    for path in (home.data, *home.data.rglob("*")):
        os.chown(path, SERVICE, SERVICE)
    home.ok("company", "create", "NEW", "--name", "New", "--all-modules")
    home.ok("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    home.ok("import", "articles", "-", "--company", "NEW", stdin="code,name\nS-1,Screw\n")
    home.ok("backup", "schedule", "--run", "--now")
    home.ok("backup", "verify")
    home.ok("doctor")
    assert (home.data / "companies" / "2.db").exists()
    assert all_of_the_service(home.data), owners(home.data)
    backups = home.folder / "data-backups"
    assert (backups.stat().st_uid, all_of_the_service(backups)) == (SERVICE, True), owners(backups)


def test_a_folder_that_is_there_keeps_its_owner(home: Home) -> None:
    os.chown(home.folder, SERVICE, SERVICE)
    home.data.mkdir()
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    assert home.data.stat().st_uid == 0
    assert set(owners(home.data).values()) == {0}
