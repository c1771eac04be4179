"""Tests of the guide's page about the data folder: it lists every name that wmsd creates there, and no other."""

import itertools
import re
import shutil
import time
from pathlib import Path
from typing import Final

import pytest

from tests.support.backups import add_article
from tests.support.command import EMAIL, PASSWORD, Home, Server
from tests.support.forked import LONGEST
from tests.support.litestream import PROGRAM, SHARED, replicating
from tests.support.newer_wmsd import VERSION, newer_wmsd
from tests.support.open_files import DELETED, open_files
from wmsd import docs
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.names import NAMES, OF_SQLITE, foreign_names, is_own, pattern
from wmsd.imports.uploads import About, Uploads
from wmsd.maintenance.upgrades.journal import Upgrade, write_upgrade
from wmsd.platform.admin_view.findings_file import Examination, write_examination
from wmsd.server.alerts.alerts_file import Kept, write_alerts

pytestmark = pytest.mark.long
PAGE: Final = (Path(docs.__file__).parent / "data-folder.md").read_text(encoding="utf-8")
ROWS: Final = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
BEGAN: Final = "2026-11-24T00:00:00.000Z"
MADE_ELSEWHERE: Final = {
    "deleted-…/": "tests/maintenance/company_moves/test_lost_companies.py",
    "upgrade-….log": "tests/maintenance/upgrades/test_changed_over.py",
    "alerts-mail.json": "tests/server/alerts/test_alerts.py",
    "backup-folders.json": "tests/maintenance/backups/test_backup_disk.py",
    "backups/": "tests/maintenance/backups/test_places.py",
}
"""Names that a command alone does not create, with the test that creates each."""
HOOK: Final = """
import os, sys
TOLD = {"os.rename": (0, 1), "os.remove": (0,), "os.mkdir": (0,), "os.rmdir": (0,)}
def tell(event, arguments):
    if event == "open":
        paths = arguments[:1] if arguments[2] and arguments[2] & os.O_CREAT else ()
    else:
        paths = [arguments[place] for place in TOLD.get(event, ())]
    for path in paths:
        if isinstance(path, (str, os.PathLike)):
            os.write(SEEN, (os.path.abspath(os.fspath(path)) + "\\n").encode())
SEEN = os.open(os.environ["SEEN_IN"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
sys.addaudithook(tell)
"""
"""A hook that records each name that Python creates, renames and removes, in every process of the program."""


class Watched(Home):
    """A home whose data folder is watched: its contents after each command, and the names that Python creates
    there.
    """

    def watch(self) -> "Watched":
        (self.folder / "hook").mkdir()
        self.write("hook/sitecustomize.py", HOOK)
        path = f"{self.folder / 'hook'}:{self.clean()['PYTHONPATH']}"
        self.environment |= {"PYTHONPATH": path, "SEEN_IN": str(self.folder / "seen")}
        self.stood: set[str] = set()
        return self

    def does(self, *arguments: str | Path, newer: Path | None = None) -> None:
        env = {} if newer is None else {"PYTHONPATH": f"{self.folder / 'hook'}:{newer}"}
        done = self.run_fresh(*arguments, env=env)
        assert done.code == 0, done
        self.look()

    def look(self) -> None:
        self.stood |= {str(path.relative_to(self.data)) for path in self.data.rglob("*")}

    def names(self) -> set[str]:
        seen = {Path(line) for line in (self.folder / "seen").read_text().splitlines()}
        return self.stood | {str(path.relative_to(self.data)) for path in seen if path.is_relative_to(self.data)}


@pytest.fixture
def home(home: Home) -> Watched:
    return Watched(home.program, home.folder).watch()


def test_the_page_has_a_row_for_each_name() -> None:
    assert sorted(ROWS) == sorted(NAMES)


@pytest.mark.thorough
def test_every_name_that_is_made_is_one_of_them_and_each_of_them_is_made(home: Watched) -> None:
    home.does("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    home.ok("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    home.write("token", home.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip())
    _serve_over_tls(home)
    _back_up_and_restore(home)
    _move_companies(home)
    _touch_files(home)
    _replicate(home)
    _upgrade(home)
    found = home.names() - {"."}
    assert sorted(name for name in found if not is_own(name) or name in OF_SQLITE) == []
    unmade = {name for name in NAMES if not any(re.fullmatch(pattern(name), each, re.ASCII) for each in found)}
    assert unmade == MADE_ELSEWHERE.keys()
    assert foreign_names(home.data) == []


def _serve_over_tls(home: Watched) -> None:
    with home.serving("--tls", "lan", env={"WMSD_BACKUP_EVERY": "never"}) as server:
        upload = Uploads(home.data / "imports").make(1, About())
        upload.file.touch()
        write_examination(home.data, Examination(began_at=BEGAN))
        write_alerts(home.data, Kept())
        home.look()
        assert server.stop() == 0
    home.look()


def _back_up_and_restore(home: Watched) -> None:
    home.does("backup", "create", "copy.tar.gz")
    home.does("backup", "verify", "copy.tar.gz")
    home.does("backup", "restore", "--yes", "copy.tar.gz", "--company", "ACME")
    home.does("backup", "restore", "--yes", "copy.tar.gz")
    home.does("backup", "schedule", "--run", "--now")


def _move_companies(home: Watched) -> None:
    home.does("company", "export", "ACME", "acme.tar.gz")
    home.does("company", "import", "acme.tar.gz", "--code", "SECOND")
    home.does("company", "delete", "SECOND", "--yes")


def _touch_files(home: Watched) -> None:
    """Do in the folder what nobody should do."""
    file, number = home.data / "companies" / "1.db", 3
    shutil.copy(file, home.data / "companies" / f"{number}.db")
    home.does("company", "create", "THIRD", "--name", "Third", "--all-modules")
    old = shutil.copy(file, home.folder / "old.db")
    with home.serving() as server:
        add_article(server, "A")
        server.stop()
    with home.serving() as server:
        add_article(server, "B")
        shutil.copy(old, file)
        server.get("/api/articles")
        _until_there(home, server, "companies/1.db-wal.overwritten-*")
        server.stop()
    with home.serving() as server:
        _delete_while_open(file, server)
        _until_there(home, server, "companies/1.db.removed-*")
        server.stop()
    (kept,) = home.data.glob("companies/1.db.removed-*")
    kept.rename(file)


def _delete_while_open(file: Path, server: Server) -> None:
    """Delete the file while the server has it open.

    After its start, the server opens each company's file once and closes it again. If it closes this file just
    before the deletion, put the file back and try again.
    """
    spare = file.with_name("1.db.removed-spare")
    for number in itertools.count():
        add_article(server, f"C{number}")
        shutil.copy(file, spare)
        file.unlink()
        if f"{file.name}{DELETED}" in open_files(file.parent, server.process.pid):
            spare.unlink()
            return
        spare.rename(file)


def _replicate(home: Watched) -> None:
    with home.serving(env=SHARED) as server, replicating(home) as replicated:
        add_article(server, "D")
        replicated.await_all()
        home.look()
        home.does("replica", "restore", replicated.replica, "--litestream", PROGRAM, "--data", "data/../spare")
        server.stop()
    spare = home.folder / "spare"
    lines = (home.folder / "seen").read_text().replace(f"{spare}/", f"{home.data}/")
    (home.folder / "seen").write_text(lines)
    (home.data / "litestream.socket").unlink(missing_ok=True)


def _upgrade(home: Watched) -> None:
    newer = newer_wmsd(home.folder / "newer")
    with home.serving(env={"PYTHONPATH": f"{home.folder / 'hook'}:{newer}"}) as server:
        _until_there(home, server, f"before-{VERSION}/companies/1.db")
        server.stop()
    write_upgrade(
        home.data, Upgrade(from_version="1.0.0", to_version=VERSION, program="", began_at=BEGAN, outcome="done")
    )
    home.look()


def _until_there(home: Watched, server: Server, wanted: str) -> None:
    until = time.monotonic() + LONGEST
    while not [*home.data.glob(wanted)]:
        assert time.monotonic() < until, f"{wanted}\n{server.log}"
        time.sleep(0.05)
    home.look()


def test_a_folder_of_somebody_else_is_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "companies").mkdir()
    for name in ("platform.db", "platform.db.old", "letter.odt", "before", "lost+found"):
        (tmp_path / name).touch()
    assert foreign_names(tmp_path) == ["before", "letter.odt", "platform.db.old"]
    assert foreign_names(DataFolder(tmp_path / "none").path) == []
