"""Files whose schema is not what migrations make: what is foreign in them never runs."""

import tarfile
import threading
import time
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.support.backups import add_article, articles, back_up
from tests.support.command import Home, Server, first_day, hashes
from tests.support.forked import LONGEST
from wmsd.db.sqlite import sqlite3
from wmsd.interfaces.cli.stop_deadline import SECONDS

RELEASED = Path(__file__).parents[2] / "released"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
TRIGGER = f"CREATE TRIGGER evil AFTER UPDATE ON articles BEGIN SELECT ({ENDLESS}); END"
FOREIGN = {
    "trigger evil": TRIGGER,
    "view evil": "CREATE VIEW evil AS SELECT * FROM articles",
    "table evil": "CREATE TABLE evil (id INTEGER CHECK (id > 0))",
    "index evil": "CREATE INDEX evil ON articles (name)",
    "table articles": "ALTER TABLE articles ADD COLUMN evil TEXT DEFAULT 'x'",
}


@pytest.fixture
def installation(home: Home) -> Home:
    home = first_day(home)
    with home.serving() as server:
        add_article(server, "KEPT")
    return home


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


def company_file(home: Home) -> Path:
    return home.data / "companies" / "1.db"


def other(home: Home) -> Home:
    folder = home.folder / "other"
    folder.mkdir()
    made = Home(home.program, folder)
    made.ok("company", "create", "OTHER", "--name", "Other", "--init")
    return made


@pytest.mark.parametrize(("part", "sql"), FOREIGN.items(), ids=FOREIGN)
def test_an_archive_with_a_foreign_part_comes_in_by_no_door(installation: Home, part: str, sql: str) -> None:
    change(company_file(installation), sql)
    exported = installation.folder / "acme.tar.gz"
    installation.ok("company", "export", "ACME", exported)
    archive = back_up(installation)
    there = other(installation)
    before = hashes(there.data)
    assert part in there.refused("company", "import", exported)
    assert hashes(there.data) == before
    before = hashes(installation.data)
    for options in ((), ("--company", "ACME"), ("--anyway",), ("--company", "ACME", "--anyway")):
        said = installation.refused("backup", "restore", archive, "--yes", *options)
        assert (part in said, "Nothing was changed" in said) == (True, True)
    assert hashes(installation.data) == before
    proven = installation.run("backup", "verify", archive)
    assert (proven.code, part in proven.out + proven.err) == (1, True)


def test_an_older_file_with_a_foreign_trigger_is_not_brought_up_to_date(home: Home) -> None:
    """Its trigger would run in the migration."""
    with tarfile.open(RELEASED / "wmsd-1.0.0.tar.gz") as archive:
        archive.extractall(home.data, filter="data")
    change(company_file(home), TRIGGER)
    before = company_file(home).read_bytes()
    with home.serving() as server:
        until = time.monotonic() + LONGEST
        while "trigger evil" not in server.log:
            assert time.monotonic() < until, server.log
            time.sleep(0.05)
    assert company_file(home).read_bytes() == before


def test_the_doctor_names_what_is_foreign(installation: Home) -> None:
    assert installation.run("doctor", "--json").json[1]["ok"]
    change(company_file(installation), TRIGGER)
    examined = installation.run("doctor")
    assert (examined.code, "trigger evil" in examined.out) == (1, True)


def test_a_write_that_never_ends_does_not_hold_up_the_stop(installation: Home) -> None:
    """A trigger that somebody has put into the file itself is the way to such a write."""
    installation.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    change(company_file(installation), TRIGGER)
    with installation.serving() as server:
        hung = threading.Thread(target=_change_an_article, args=(server,), daemon=True)
        hung.start()
        time.sleep(1)
        assert server.send("POST", "/api/articles", {"code": "OTHERS", "name": "x"}, company=2)[0] == 201
        began = time.monotonic()
        assert server.stop() == 0
        assert SECONDS <= time.monotonic() - began < SECONDS + 5
        assert "stopped while a write of ACME went on" in server.log
        hung.join()
    change(company_file(installation), "DROP TRIGGER evil")
    with installation.serving() as server:
        assert articles(server) == ["KEPT"]
        assert server.get("/api/articles/1")[1]["name"] == "KEPT"
        assert server.get("/api/articles", company=2)[1]["data"][0]["code"] == "OTHERS"
    assert all(report["ok"] for report in installation.ok("doctor", "--json").json)


def _change_an_article(server: Server) -> None:
    with suppress(OSError, HTTPException):
        server.send("PATCH", "/api/articles/1", {"name": "never"})
