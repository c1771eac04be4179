"""Files whose schema differs from the schema of the migrations: foreign parts of the schema never run."""

import tarfile
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.support.backups import add_article, articles, back_up
from tests.support.borrowing import borrowed
from tests.support.command import Home, Server, first_day, hashes
from tests.support.foreign_schemas import PLATFORM_TRIGGER, TRIGGER, altered, change
from wmsd.interfaces.cli.server.stop_deadline import SECONDS
from wmsd.maintenance.backups.archive import read_manifest

RELEASED = Path(__file__).parents[2] / "released"
FILE = "companies/1.db"


@pytest.fixture
def installation(home: Home) -> Home:
    home = first_day(home)
    with home.serving() as server:
        add_article(server, "KEPT")
    return home


def other(home: Home) -> Home:
    folder = home.folder / "other"
    folder.mkdir()
    made = Home(home.program, folder)
    made.ok("company", "create", "OTHER", "--name", "Other", "--init")
    return made


def test_a_companys_archive_with_a_foreign_trigger_is_not_imported(installation: Home) -> None:
    exported = installation.folder / "acme.tar.gz"
    installation.ok("company", "export", "ACME", exported)
    there = other(installation)
    before = hashes(there.data)
    path = read_manifest(exported).files[0].path
    assert "trigger evil" in there.refused("company", "import", altered(exported, path, TRIGGER))
    assert hashes(there.data) == before
    there.ok("company", "import", altered(exported, path))


@pytest.mark.parametrize(
    ("name", "trigger", "ways"),
    [
        (FILE, TRIGGER, [(), ("--company", "ACME"), ("--anyway",), ("--company", "ACME", "--anyway")]),
        ("platform.db", PLATFORM_TRIGGER, [(), ("--only-platform",), ("--anyway",)]),
    ],
    ids=["company", "platform"],
)
def test_a_backup_with_a_foreign_trigger_comes_in_by_no_way(
    installation: Home, name: str, trigger: str, ways: list[tuple[str, ...]]
) -> None:
    archive = altered(back_up(installation), name, trigger)
    before = hashes(installation.data)
    for options in ways:
        said = installation.refused("backup", "restore", archive, "--yes", *options)
        assert ("trigger evil" in said, "Nothing was changed" in said) == (True, True), said
    assert hashes(installation.data) == before
    proven = installation.run("backup", "verify", archive)
    assert (proven.code, "trigger evil" in proven.out + proven.err) == (1, True)


def test_a_file_with_a_foreign_trigger_is_not_copied(installation: Home) -> None:
    change(installation.data / FILE, TRIGGER)
    assert "trigger evil" in installation.refused("company", "clone", "ACME", "TWIN")


@pytest.mark.parametrize("is_older", [True, False], ids=["older", "current"])
def test_a_server_refuses_a_file_with_a_foreign_trigger_and_serves_the_others(home: Home, is_older: bool) -> None:
    """A trigger in an older file would run during the migration."""
    if is_older:
        with tarfile.open(RELEASED / "wmsd-1.0.0.tar.gz") as archive:
            archive.extractall(home.data, filter="data")
    else:
        home = first_day(home)
        home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    change(home.data / FILE, TRIGGER)
    before = (home.data / FILE).read_bytes()
    with home.serving() as server:
        if not is_older:
            assert server.get("/api/articles")[0] == 503
            assert server.get("/api/articles", company=2)[0] == 200
        until = time.monotonic() + 20
        while "trigger evil" not in server.log:
            assert time.monotonic() < until, server.log
            time.sleep(0.05)
    assert (home.data / FILE).read_bytes() == before


def test_the_doctor_names_what_is_foreign(installation: Home) -> None:
    assert installation.run("doctor", "--json").json[1]["ok"]
    change(installation.data / FILE, TRIGGER)
    examined = installation.run("doctor")
    assert (examined.code, "trigger evil" in examined.out) == (1, True)


def test_a_write_that_never_ends_does_not_hold_up_the_stop(installation: Home) -> None:
    """The trigger is added while the server is running, after the server has checked the file."""
    installation.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    with installation.serving() as server:
        assert articles(server) == ["KEPT"]
        with borrowed(installation.data, FILE) as connection:
            connection.execute(TRIGGER)
        hung = threading.Thread(target=_change_an_article, args=(server,), daemon=True)
        hung.start()
        time.sleep(1)
        assert hung.is_alive()
        assert server.send("POST", "/api/articles", {"code": "OTHERS", "name": "x"}, company=2)[0] == 201
        began = time.monotonic()
        assert server.stop() == 0
        assert SECONDS <= time.monotonic() - began < SECONDS + 5
        assert "stopped during a write to ACME" in server.log
        hung.join()
    change(installation.data / FILE, "DROP TRIGGER evil")
    with installation.serving() as server:
        assert articles(server) == ["KEPT"]
        assert server.get("/api/articles/1")[1]["name"] != "never"
        assert server.get("/api/articles", company=2)[1]["data"][0]["code"] == "OTHERS"
    assert all(report["ok"] for report in installation.ok("doctor", "--json").json)


def _change_an_article(server: Server) -> None:
    with suppress(OSError, HTTPException):
        server.send("PATCH", "/api/articles/1", {"name": "never"})
