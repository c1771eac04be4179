"""Tests of a user who removes or replaces the files of a company while they are in use: no write is lost
unnoticed.
"""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backups import sql
from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST
from tests.support.open_files import open_files
from wmsd.db.engine.sqlite import connect


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    return home


@pytest.fixture
def server(installation: Home) -> Iterator[Server]:
    unlimited = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}
    with installation.serving(env=unlimited) as server:
        yield server


@pytest.fixture
def file(installation: Home) -> Path:
    return installation.data / "companies" / "1.db"


def post(server: Server, code: str, company: int = 1) -> int:
    return server.send("POST", "/api/articles", {"code": code, "name": code}, company=company)[0]


def codes(server: Server) -> list[str]:
    return [record["code"] for record in server.get("/api/articles")[1]["data"]]


def written(server: Server, count: int = 5) -> list[str]:
    made = [f"A{number}" for number in range(count)]
    assert [post(server, code) for code in made] == [201] * count
    return made


def is_stopped(server: Server) -> None:
    """Check that only this company is stopped."""
    assert post(server, "LOST") == 503
    assert server.get("/api/articles")[0] == 503
    assert post(server, "GOES-ON", company=2) == 201
    assert server.get("/api/health", token="", company=None)[1]["status"] == "degraded"


def works_again(server: Server) -> None:
    until = time.monotonic() + LONGEST
    while post(server, "AGAIN") != 201:
        assert time.monotonic() < until, server.log
        time.sleep(0.05)


def is_open_in(server: Server, file: Path) -> None:
    """Send requests until the server has the file open.

    After a start the server checks each file and closes it again, and the next request opens it.
    """
    until = time.monotonic() + LONGEST
    while file.name not in open_files(file.parent.resolve(), server.process.pid):
        assert time.monotonic() < until
        assert server.get("/api/articles")[0] == 200


def told(server: Server, words: str) -> int:
    return sum(words in line for line in server.log.splitlines())


def test_a_file_that_is_moved_away_and_back(server: Server, file: Path) -> None:
    made = written(server)
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    is_stopped(server)
    assert told(server, f"company 1 is unavailable: {file} was removed or replaced while it was in use") == 1
    elsewhere.rename(file)
    works_again(server)
    assert codes(server) == [*made, "AGAIN"]
    assert list(file.parent.glob("1.db.removed-*")) == []


def test_a_file_that_is_removed_is_kept_under_another_name(installation: Home, server: Server, file: Path) -> None:
    made = written(server)
    file.unlink()
    is_stopped(server)
    until = time.monotonic() + LONGEST
    while not told(
        server, f"company 1: the content of its file was saved to {installation.data}/companies/1.db.removed-"
    ):
        assert time.monotonic() < until, server.log
        time.sleep(0.05)
    server.stop()
    (kept,) = file.parent.glob("1.db.removed-*")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.rename(file)
    with installation.serving() as again:
        assert codes(again) == made
        assert post(again, "AGAIN") == 201


def test_the_doctor_and_a_restore_know_what_was_kept(installation: Home, server: Server, file: Path) -> None:
    """The doctor and a restore know the file that was kept.

    Event numbers continue after its numbers, so a receiver sees no number twice.
    """
    archive = installation.folder / str(installation.ok("backup", "create", "--json").json["backup"])
    written(server)
    file.unlink()
    is_stopped(server)
    until = time.monotonic() + LONGEST
    while not list(file.parent.glob("1.db.removed-*")):
        assert time.monotonic() < until, server.log
        time.sleep(0.05)
    (kept,) = file.parent.glob("1.db.removed-*")
    told_by_doctor = installation.run("doctor").out
    assert (
        f"Company ACME has no file: {installation.data}/companies/{file.name} was removed while the server used "
        "it." in told_by_doctor
    )
    assert (
        f"rename {installation.data}/companies/{kept.name} to {installation.data}/companies/{file.name}, and "
        "start the server again." in told_by_doctor
    )
    restored = installation.ok("backup", "restore", archive, "--company", "ACME", "--yes")
    assert "ACME: 5 events (1 to 5) came after the backup and are missing." in restored.err
    assert post(server, "AGAIN") == 201
    server.stop()
    assert sql(file, "SELECT min(rowid) FROM events") == [(6,)]


def test_what_was_kept_is_served_again_when_it_is_put_back(server: Server, file: Path) -> None:
    made = written(server)
    file.unlink()
    is_stopped(server)
    until = time.monotonic() + LONGEST
    while not (kept := [*file.parent.glob("1.db.removed-*")]) or not told(
        server, "the content of its file was saved to"
    ):
        assert time.monotonic() < until, server.log
        time.sleep(0.05)
    kept[0].rename(file)
    works_again(server)
    assert codes(server) == [*made, "AGAIN"]


def test_a_file_that_is_replaced_is_left_alone_until_the_next_start(
    installation: Home, server: Server, file: Path
) -> None:
    made = written(server, 1)
    server.stop()
    backup = shutil.copy(file, installation.folder / "backup")
    with installation.serving() as running:
        assert post(running, "LATER") == 201
        shutil.copy(backup, file.with_name("new"))
        file.with_name("new").replace(file)
        before = file.read_bytes()
        is_stopped(running)
        assert file.read_bytes() == before
        running.stop()
    (kept,) = file.parent.glob("1.db.removed-*")
    connection = connect(kept)
    assert connection.execute("SELECT code FROM articles").fetchall() == [(*made,), ("LATER",)]
    connection.close()
    with installation.serving() as again:
        assert codes(again) == made


def test_a_log_that_is_removed_costs_nothing(installation: Home, server: Server, file: Path) -> None:
    made = written(server)
    file.with_name("1.db-wal").unlink()
    works_again(server)
    server.kill()
    with installation.serving() as again:
        assert codes(again) == [*made, "AGAIN"]


def test_what_is_read_stops_too(server: Server, file: Path) -> None:
    written(server)
    file.rename(file.with_name("elsewhere"))
    server.soon("/api/articles", lambda status, _: status == 503)


@pytest.mark.parametrize("keeps_times", [False, True])
def test_a_copy_that_is_laid_over_a_running_file_is_neither_read_nor_written(
    installation: Home, server: Server, file: Path, keeps_times: bool
) -> None:
    copy = shutil.copy2 if keeps_times else shutil.copyfile
    made = written(server)
    server.stop()
    backup = copy(file, installation.folder / "backup")
    with installation.serving() as between:
        assert post(between, "BETWEEN") == 201
        between.stop()
    with installation.serving() as running:
        assert post(running, "LATER") == 201
        is_open_in(running, file)
        copy(backup, file)
        is_stopped(running)
        assert (
            told(
                running,
                f"unavailable: {installation.data}/companies/1.db was written by another program while it was in "
                "use",
            )
            == 1
        )
        until = time.monotonic() + LONGEST
        while not [*file.parent.glob("1.db-wal.overwritten-*")]:
            assert time.monotonic() < until, running.log
            time.sleep(0.05)
        assert running.get("/api/articles")[0] == 503
        assert file.read_bytes() == Path(backup).read_bytes()
        running.stop()
    assert file.read_bytes() == Path(backup).read_bytes()
    with installation.serving() as again:
        assert codes(again) == made
        assert post(again, "AGAIN") == 201
    installation.ok("doctor")


def test_a_copy_of_a_running_file_is_not_mixed_with_a_log(installation: Home, server: Server, file: Path) -> None:
    """A copy of a file in use is not mixed with a newer log.

    The copy was made without the log, and the log has later changes.
    """
    made = written(server)
    server.stop()
    backup = shutil.copy(file, installation.folder / "backup")
    with installation.serving() as running:
        assert post(running, "LATER") == 201
        running.kill()
    log = file.with_name("1.db-wal")
    assert log.stat().st_size
    own = file.read_bytes()
    shutil.copy(backup, file)
    put_back = [file.read_bytes(), log.read_bytes()]
    with installation.serving() as refused:
        assert (post(refused, "LOST"), refused.get("/api/articles")[0]) == (503, 503)
        assert told(
            refused, f"{file} was copied there, or written by another program, after wmsd had started its log"
        )
    assert [file.read_bytes(), log.read_bytes()] == put_back
    shutil.copy(log, file.with_name("1.db-wal.copy"))  # as the error message says
    file.with_name("1.db-wal.copy").replace(log)
    with installation.serving() as fixed:
        assert codes(fixed) == [*made, "LATER"]
        assert post(fixed, "LAST") == 201
        fixed.stop()
        assert file.read_bytes() != own
    with installation.serving() as running:
        assert post(running, "NEWER LOG") == 201
        running.kill()
    shutil.copy(backup, file)
    before = [file.read_bytes(), log.read_bytes()]
    with installation.serving() as refused:
        is_stopped(refused)
        assert (
            told(refused, f"{installation.data}/companies/1.db and its log 1.db-wal do not belong together") == 1
        )
    assert [file.read_bytes(), log.read_bytes()] == before
    assert "do not belong together" in installation.run("doctor").err
    log.rename(installation.folder / "log")
    with installation.serving() as again:
        assert codes(again) == made


def test_the_log_of_another_company_is_not_replayed(installation: Home, server: Server, file: Path) -> None:
    made = written(server)
    assert post(server, "OF THE OTHER", company=2) == 201
    server.kill()
    own, other = file.with_name("1.db-wal"), file.with_name("2.db-wal")
    own_log = own.read_bytes()
    shutil.copy(other, own)
    before = file.read_bytes()
    with installation.serving() as refused:
        is_stopped(refused)
    assert file.read_bytes() == before
    own.write_bytes(own_log)
    with installation.serving() as again:
        assert codes(again) == made


def test_another_owner_mode_or_name_of_a_file_stops_nothing(server: Server, file: Path) -> None:
    made = written(server)
    file.chmod(0o640)
    os.utime(file, ns=(0, file.stat().st_mtime_ns))
    os.link(file, file.with_name("a-link"))
    assert post(server, "LATER") == 201
    assert codes(server) == [*made, "LATER"]
