"""The command watches a server restart with a newer program, and restores the old program if the newer one does
not even start.
"""

import errno
import json
import os
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backups import add_article
from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST
from tests.support.newer_wmsd import ROOT, VERSION, newer_wmsd
from wmsd import __version__
from wmsd.data_folder.folder import DataFolder, Serving
from wmsd.data_folder.lending import beside_a_server
from wmsd.db.engine.failures import StorageError
from wmsd.host.program_file import ProgramFile
from wmsd.maintenance.upgrades import switch_program
from wmsd.maintenance.upgrades.journal import Upgrade, read_upgrade
from wmsd.maintenance.upgrades.switch_program import ChangeOver

SERVING = "wmsd/interfaces/cli/server/serve.py"
ENDS = "\nraise SystemExit('not on this machine')\n"
HANGS = """
def _hang(*_: object, **__: object) -> None:
    time.sleep(600)


raise_file_limit = _hang
"""


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def program_file(installation: Home) -> ProgramFile:
    """Link to a source tree, which replaces the executable in these tests."""
    link = ProgramFile(installation.folder / "program")
    link.path.symlink_to(ROOT)
    return link


@pytest.fixture
def serving(installation: Home, program_file: ProgramFile) -> Iterator[Server]:
    with installation.serving(env={"PYTHONPATH": str(program_file.path)}) as server:
        add_article(server, "KEPT")
        yield server
        found = DataFolder(installation.data).server()
        if found is not None and found.pid != server.process.pid:  # the command has started this server
            os.kill(found.pid, signal.SIGTERM)


class LinkedProgram(ProgramFile):
    """A program that is a link: links have no owner and no mode to preserve."""

    def put_new(self) -> None:
        self.previous.symlink_to(ROOT)
        self.new.replace(self.path)


def upgrade_of(program: ProgramFile) -> Upgrade:
    return Upgrade(
        from_version=__version__,
        to_version=VERSION,
        program=str(program.path),
        began_at="2026-11-23T12:00:00.000Z",
    )


def change_over(home: Home, tree: Path, seconds: float, reason: str | None = None) -> Serving:
    folder, program = DataFolder(home.data), LinkedProgram(home.folder / "program")
    program.new.symlink_to(tree)
    server = folder.server()
    assert server is not None
    change = ChangeOver(folder, program, upgrade_of(program), server, seconds)
    with beside_a_server(folder) as loan:
        assert loan is not None
        change.begin(loan)
    return change.finish(lambda server: reason)


def refused(home: Home, tree: Path, seconds: float, reason: str | None = None) -> str:
    with pytest.raises(StorageError) as found:
        change_over(home, tree, seconds, reason)
    return str(found.value)


def serves_again(home: Home) -> None:
    server = DataFolder(home.data).server()
    assert server is not None
    assert server.version == __version__
    found = read_upgrade(home.data)
    assert found is not None
    assert found.outcome == "went back"
    assert (home.folder / "program").resolve() == ROOT
    headers = {"Authorization": f"Bearer {(home.folder / 'token').read_text()}", "X-Company-Id": "1"}
    with urllib.request.urlopen(
        urllib.request.Request(f"http://{server.listen}/api/articles", headers=headers), timeout=LONGEST
    ) as answer:
        assert [article["code"] for article in json.load(answer)["data"]] == ["KEPT"]


def test_a_program_that_cannot_be_put_in_place_leaves_the_present_one(
    installation: Home, serving: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program before an earlier upgrade still exists. It is two versions old, and must not come back."""
    folder, program = DataFolder(installation.data), ProgramFile(installation.folder / "wmsd")
    for file, content in ((program.path, "present"), (program.previous, "two versions old"), (program.new, "new")):
        file.write_text(content)
    monkeypatch.setattr(os, "chown", forbidden)
    server = folder.server()
    assert server is not None
    with beside_a_server(folder) as loan:
        assert loan is not None
        with pytest.raises(StorageError, match="Nothing was changed"):
            ChangeOver(folder, program, upgrade_of(program), server, LONGEST).begin(loan)
    assert program.path.read_text() == "present"
    found = read_upgrade(installation.data)
    assert (found is not None, found and found.outcome) == (True, "went back")
    assert serving.process.poll() is None


def forbidden(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_the_server_starts_again_in_the_same_process(installation: Home, serving: Server, tmp_path: Path) -> None:
    found = change_over(installation, newer_wmsd(tmp_path / "newer"), LONGEST)
    assert (found.version, found.pid) == (VERSION, serving.process.pid)


def test_a_program_that_ends_at_once_is_replaced_by_the_one_before(
    installation: Home, serving: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switch_program, "GRACE_SECONDS", 3.0)
    said = refused(installation, newer_wmsd(tmp_path / "newer", patches={SERVING: ENDS}), LONGEST)
    assert said == (
        f"wmsd {VERSION} does not work: The server did not accept requests within 30 s. wmsd "
        f"{__version__} is running again, with the files from before the upgrade."
    )
    assert "not on this machine" in (installation.data / f"upgrade-{VERSION}.log").read_text()
    serves_again(installation)


def test_a_program_that_hangs_is_ended(
    installation: Home, serving: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switch_program, "GRACE_SECONDS", 3.0)
    monkeypatch.setattr(switch_program, "STOP_SECONDS", 1.0)
    said = refused(installation, newer_wmsd(tmp_path / "newer", patches={SERVING: HANGS}), 10.0)
    assert said.startswith(f"wmsd {VERSION} does not work: The server did not accept requests within 10 s.")
    serves_again(installation)
    assert installation.run("status", "--json").json["upgrade"] == f"from {__version__} to {VERSION}: went back"


def test_one_that_serves_and_is_not_healthy_goes_back_too(
    installation: Home, serving: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switch_program, "GRACE_SECONDS", 3.0)
    said = refused(installation, newer_wmsd(tmp_path / "newer"), LONGEST, reason="Its health check says: no.")
    assert said.startswith(
        f"wmsd {VERSION} does not work: Its health check says: no. wmsd {__version__} is running"
    )
    serves_again(installation)
    # the file with the writes since the upgrade is preserved
    assert list(installation.data.glob("replaced-*/companies/1.db"))
