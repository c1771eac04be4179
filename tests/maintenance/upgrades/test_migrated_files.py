"""A newer wmsd: only its server migrates the files. The server first copies each file, and goes back to the copy
if the migration fails.
"""

import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support.backups import add_article, articles
from tests.support.command import Home, first_day, hashes
from tests.support.forked import LONGEST
from tests.support.newer_wmsd import FAILS_WITH_ARTICLES, ROOT, VERSION, newer_wmsd
from tests.support.small_disk import fill, small_disk_at
from wmsd import __version__
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import version_of
from wmsd.host.program_file import ProgramFile
from wmsd.maintenance.upgrades.journal import Upgrade, read_upgrade, write_upgrade

COPIES = f"before-{VERSION}"
MIGRATED = 2
"""The number of migrated files: the platform's file and the file of ACME."""
REFUSES_TO_SERVE = """
def _refuse(*_: object, **__: object) -> None:
    raise RuntimeError("it cannot serve here")


_prepare = open_installation = _refuse
"""


@pytest.fixture
def installation(home: Home) -> Home:
    home = first_day(home)
    with home.serving() as server:
        add_article(server, "KEPT")
    return home


def of(tree: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(tree)}


def has_pallets(file: Path) -> bool:
    with closing(connect(file, read_only=True)) as connection:
        return bool(connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'pallets'").fetchone()[0])


def files(home: Home, folder: str = "") -> list[Path]:
    return [home.data / folder / "platform.db", home.data / folder / "companies" / "1.db"]


def test_a_command_of_a_newer_wmsd_changes_nothing(installation: Home, tmp_path: Path) -> None:
    newer, before = newer_wmsd(tmp_path / "newer"), hashes(installation.data)
    done = installation.run_fresh("company", "list", env=of(newer))
    assert (done.code, done.wrong) == (
        1,
        [
            (
                f"{installation.data}/platform.db was written by an older wmsd and was not changed. Start "
                "`wmsd serve`, which saves a copy and migrates the file; then try again."
            )
        ],
    )
    examined = installation.run_fresh("doctor", env=of(newer)).err.splitlines()
    assert [line.partition(";")[0].rstrip(".") for line in examined[1:3]] == [
        "platform.db: no errors",
        "ACME: no errors",
    ]
    assert hashes(installation.data) == before


def test_a_newer_server_keeps_a_copy_of_each_file(installation: Home, tmp_path: Path) -> None:
    newer = newer_wmsd(tmp_path / "newer")
    with installation.serving(env=of(newer)) as server:
        assert articles(server) == ["KEPT"]
        add_article(server, "LATER")
        server.stop()
        assert server.log.count(" for wmsd 99.0.0; the previous file is stored as ") == MIGRATED
    assert [has_pallets(file) for file in files(installation)] == [True, True]
    assert [has_pallets(file) for file in files(installation, COPIES)] == [False, False]
    assert not list((installation.data / COPIES).rglob("*.new"))

    refused = installation.refused("company", "list")
    assert "platform.db was written by a newer version of wmsd" in refused
    for file, copy in zip(files(installation), files(installation, COPIES), strict=True):
        copy.replace(file)  # to go back by hand, this is enough
    with installation.serving() as server:
        assert articles(server) == ["KEPT"]


def test_a_log_that_a_crash_has_left_is_in_the_copy(installation: Home, tmp_path: Path) -> None:
    with installation.serving() as server:
        add_article(server, "LOGGED")
        server.kill()
    assert (installation.data / "companies" / "1.db-wal").stat().st_size > 0
    with installation.serving(env=of(newer_wmsd(tmp_path / "newer"))) as server:
        assert articles(server) == ["KEPT", "LOGGED"]
    for file, copy in zip(files(installation), files(installation, COPIES), strict=True):
        copy.replace(file)
    with installation.serving() as server:
        assert articles(server) == ["KEPT", "LOGGED"]


def test_a_company_whose_file_does_not_suit_is_left_as_it_was(installation: Home, tmp_path: Path) -> None:
    installation.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    with installation.serving() as server:
        add_article(server, "BAD")
    newer = newer_wmsd(tmp_path / "newer", company=FAILS_WITH_ARTICLES)
    with installation.serving(env=of(newer)) as server:
        assert server.get("/api/articles")[0] == 503
        assert server.get("/api/articles", company=2)[0] == 200
        server.stop()
        assert "the migration script 9999_newer.sql failed" in server.log
    (installation.data / COPIES / "platform.db").replace(installation.data / "platform.db")
    with installation.serving() as server:
        assert articles(server) == ["KEPT", "BAD"]


def test_without_room_for_a_copy_nothing_is_changed(installation: Home, tmp_path: Path) -> None:
    newer = newer_wmsd(tmp_path / "newer")
    with small_disk_at(tmp_path / "disk") as disk:
        data = disk / "data"
        shutil.copytree(installation.data, data, ignore=shutil.ignore_patterns("*.socket", "reserve"))
        before = {name: sum_ for name, sum_ in hashes(data).items() if name.endswith(".db")}
        fill(disk, 32 * 1024 * 1024 + 4096)
        done = installation.run_fresh("serve", "--listen", "127.0.0.1:0", "--data", data, env=of(newer))
        assert done.code == 1
        assert f"There is not enough space in {data}: " in done.wrong[0]
        assert {name: sum_ for name, sum_ in hashes(data).items() if name.endswith(".db")} == before


# The first start of an upgrade: here the program is a link to a source tree; in reality it is an executable file.


@pytest.fixture
def program_file(installation: Home) -> ProgramFile:
    link = ProgramFile(installation.folder / "program")
    link.path.symlink_to(ROOT)
    return link


def install(home: Home, program_file: ProgramFile, tree: Path) -> None:
    """Do the steps of the upgrade command that come before the restart of the server."""
    write_upgrade(
        home.data,
        Upgrade(from_version=__version__, to_version=VERSION, program=str(program_file.path), began_at="now"),
    )
    program_file.new.symlink_to(tree)
    program_file.previous.symlink_to(ROOT)
    program_file.new.replace(program_file.path)


def outcome(home: Home) -> tuple[str, str]:
    found = read_upgrade(home.data)
    assert found is not None
    return found.outcome, found.reason


def version_that_serves(home: Home) -> str:
    found = DataFolder(home.data).server()
    return "" if found is None else found.version


def test_the_first_start_brings_every_file_up_to_date_before_it_serves(
    installation: Home, program_file: ProgramFile, tmp_path: Path
) -> None:
    install(installation, program_file, newer_wmsd(tmp_path / "newer"))
    with installation.serving(env=of(program_file.path)) as server:
        assert outcome(installation) == ("done", "")
        assert version_that_serves(installation) == VERSION
        assert articles(server) == ["KEPT"]
    assert [has_pallets(file) for file in files(installation)] == [True, True]


@pytest.mark.parametrize("broken", ["a company's file", "the platform's file", "the program"])
def test_it_goes_back_by_itself(
    installation: Home, program_file: ProgramFile, tmp_path: Path, broken: str
) -> None:
    with installation.serving() as server:
        add_article(server, "BAD")
    before = {file: file.read_bytes() for file in files(installation)}
    wrong, reason = {
        "a company's file": (
            newer_wmsd(tmp_path / "1", company=FAILS_WITH_ARTICLES),
            f"1 of 1 companies cannot be served. The first reason is: {installation.data}/companies/1.db "
            "cannot be migrated: "
            "the migration script",
        ),
        "the platform's file": (
            newer_wmsd(tmp_path / "2", platform="INSERT INTO companies (id) VALUES (NULL);"),
            f"{installation.data}/platform.db cannot be migrated: the migration script",
        ),
        "the program": (
            newer_wmsd(tmp_path / "3", patches={"wmsd/interfaces/cli/server/serve.py": REFUSES_TO_SERVE}),
            "it cannot serve here",
        ),
    }[broken]
    install(installation, program_file, wrong)
    with installation.serving(env=of(program_file.path)) as server:
        assert version_that_serves(installation) == __version__
        found, why = outcome(installation)
        assert found == "went back"
        assert why.startswith(reason)
        assert articles(server) == ["BAD", "KEPT"] or articles(server) == ["KEPT", "BAD"]
    assert program_file.path.resolve() == ROOT
    assert not program_file.previous.exists()
    for file, content in before.items():
        assert version_of(file) == version_of_bytes(content, tmp_path)
        assert not has_pallets(file)


def version_of_bytes(content: bytes, folder: Path) -> int:
    (folder / "before.db").write_bytes(content)
    return version_of(folder / "before.db")


SLOW = """
def _slowly(*_: object) -> None:
    import time

    time.sleep(60)


_statements_before = _statements


def _statements(script: str) -> Iterator[str]:
    if "pallets" in script and "slow" in script:
        _slowly()
    return _statements_before(script)
"""


@contextmanager
def killed_half_way(home: Home, program_file: ProgramFile, tmp_path: Path) -> Iterator[None]:
    """Kill the server of the upgrade after it has migrated the platform's file."""
    slow = "CREATE TABLE pallets (id INTEGER PRIMARY KEY, slow TEXT);"
    tree = newer_wmsd(tmp_path / "slow", company=slow, patches={"wmsd/db/migrations/__init__.py": SLOW})
    install(home, program_file, tree)
    with home.start("serve", "--listen", "127.0.0.1:0", env=of(program_file.path)) as process:
        until = time.monotonic() + LONGEST
        while not (home.data / COPIES / "companies" / "1.db").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert [has_pallets(file) for file in files(home)] == [True, False]
    assert outcome(home) == ("under way", "")
    yield


def test_after_a_power_cut_the_new_program_goes_on(
    installation: Home, program_file: ProgramFile, tmp_path: Path
) -> None:
    with killed_half_way(installation, program_file, tmp_path):
        program_file.path.unlink()
        program_file.path.symlink_to(newer_wmsd(tmp_path / "newer"))
        with installation.serving(env=of(program_file.path)) as server:
            assert articles(server) == ["KEPT"]
    assert outcome(installation) == ("done", "")


def test_after_a_power_cut_the_previous_program_finds_its_files(
    installation: Home, program_file: ProgramFile, tmp_path: Path
) -> None:
    with killed_half_way(installation, program_file, tmp_path):
        program_file.put_back()
        with installation.serving(env=of(program_file.path)) as server:
            assert articles(server) == ["KEPT"]
            server.stop()
            assert "was set back to its state before the upgrade to wmsd 99.0.0" in server.log
    assert outcome(installation) == ("went back", "The upgrade was interrupted.")


def test_a_journal_that_cannot_be_read_is_said(installation: Home) -> None:
    installation.write("data/upgrade.json", "{")
    done = installation.run_fresh("serve", "--listen", "127.0.0.1:0")
    assert done.code == 1
    assert done.wrong == [
        f"{installation.data}/upgrade.json cannot be read: it is damaged. This file records the progress "
        "of an upgrade. If no upgrade is running, delete the file."
    ]
