"""Tests of what killed commands leave: the doctor finds it, and it is deleted unless it is still needed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.backups import back_up
from tests.support.command import Home, Tenant, first_day
from wmsd.base.machine.scratch_folders import in_use
from wmsd.maintenance.doctor.leftovers import BEGUN

KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
MAIN = "from wmsd.interfaces.cli.main import main; main()"
BEFORE_THE_SWAP = (
    f"from wmsd.maintenance.backups import restore as restoring; restoring.swap = lambda *_: {KILLED}"
)
IN_THE_SWAP = f"from wmsd.data_folder import file_swap as swapping; swapping._rename = lambda *_: {KILLED}"
LONG_AGO = 1_000_000_000


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


def killed(home: Home, where: str, *arguments: str | Path) -> None:
    command = [sys.executable, "-P", "-c", f"import os, signal; {where}; {MAIN}", *map(str, arguments)]
    done = subprocess.run(command, cwd=home.folder, env=home.clean(), capture_output=True)
    assert done.returncode == -9, done


def age(*paths: Path) -> None:
    for path in paths:
        for each in (path, *path.rglob("*")):
            os.utime(each, (LONG_AGO, LONG_AGO), follow_symlinks=False)


def left(home: Home, *options: str) -> list[str]:
    """Return the names of the files that the doctor reports as leftovers."""
    *_, installation = home.run("doctor", "--json", *options).json
    return [Path(each["file"]).name for each in installation["installation"] if each["check"] == "leftover"]


def test_a_restore_that_was_killed_before_it_put_anything_in_place(installation: Home) -> None:
    archive, folder = back_up(installation), installation.data / ".restoring"
    killed(installation, BEFORE_THE_SWAP, "backup", "restore", archive, "--company", "ACME", "--yes")
    assert (folder / "companies" / "1.db").stat().st_size
    assert left(installation) == [], "it may be under way"
    age(folder)
    with in_use(folder):
        assert left(installation) == []
    assert left(installation) == [".restoring"]
    assert left(installation, "--fix") == []
    assert not folder.exists()
    assert Tenant(installation, "ACME").rows("articles") == []


def test_what_an_unfinished_swap_needs_is_kept_until_it_is_finished(installation: Home) -> None:
    archive, folder = back_up(installation), installation.data / ".restoring"
    Tenant(installation, "ACME").take("articles", "code,name\nLATER,Later\n")
    killed(installation, IN_THE_SWAP, "backup", "restore", archive, "--yes")
    assert (installation.data / "swap.json").exists()
    age(folder)
    assert left(installation, "--fix") == [], "it has finished the swap, and left the folder alone until then"
    assert not (installation.data / "swap.json").exists()
    assert Tenant(installation, "ACME").rows("articles") == []
    age(*([folder] if folder.exists() else []))
    assert left(installation, "--fix") == []
    assert not folder.exists()


def test_a_company_import_that_was_killed(installation: Home) -> None:
    installation.ok("company", "export", "ACME", archive := installation.folder / "acme.tar.gz")
    where = (
        "from wmsd.maintenance.company_moves import export_import as moving; "
        f"moving.adopt = lambda *_, **__: {KILLED}"
    )
    killed(installation, where, "company", "import", archive, "--code", "NEW")
    (folder,) = installation.data.glob(".taking-over-*")
    age(folder)
    assert left(installation) == [folder.name]
    assert left(installation, "--fix") == []
    assert not folder.exists()


def test_a_copy_of_the_platform_is_left_to_the_backup_that_lives(installation: Home) -> None:
    own, dead = (installation.data / f".platform-copy-{number}.db" for number in (os.getpid(), 4_000_000))
    for copy in (own, dead):
        shutil.copyfile(installation.data / "platform.db", copy)
    age(own, dead)
    assert left(installation) == [dead.name]
    left(installation, "--fix")
    assert (own.exists(), dead.exists()) == (True, False)


def test_every_name_of_the_table_is_found_and_deleted(installation: Home) -> None:
    backups, temporary = installation.folder / "data-backups", installation.folder / "tmp"
    temporary.mkdir()
    folders = {"data": installation.data, "backups": backups, "temporary": temporary}
    made = [folders[begun.where] / begun.name.replace("*", "9000000") for begun in BEGUN]
    for path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 2000)
    age(*made)
    environment = {"TMPDIR": str(temporary)}
    *_, found = installation.run("doctor", "--json", "--fix", env=environment).json
    assert len(found["fixed"]) >= len(made)
    assert [path for path in made if path.exists()] == []
