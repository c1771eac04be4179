"""A second copy by a real Litestream: it has every change up to some time, and another machine can serve from
it.
"""

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support.backups import add_article, articles, back_up, is_right_but_for_open_entries
from tests.support.command import Home, Server, first_day
from tests.support.foreign_schemas import TRIGGER
from tests.support.litestream import PROGRAM, SHARED, replicating
from wmsd.data_folder.new_epoch import LEAST_LEAP
from wmsd.db.engine.sqlite import connect

UNLIMITED = {**SHARED, "WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


def take_over(home: Home, replica: Path) -> Home:
    """Restore the replica on the other machine, and return that machine."""
    (home.folder / "other").mkdir()
    other = Home(home.program, home.folder / "other")
    other.write("token", (home.folder / "token").read_text())
    other.ok("replica", "restore", replica, "--litestream", PROGRAM)
    return other


def last_event(home: Home) -> int:
    with closing(sqlite3.connect(home.data / "companies" / "1.db")) as connection:
        return int(connection.execute("SELECT max(sequence) FROM events").fetchone()[0])


@contextmanager
def adding(server: Server) -> Iterator[list[str]]:
    """Add articles until the block ends or the server stops replying. Yield their codes in the order of
    acknowledgement.
    """
    added: list[str] = []
    over = threading.Event()

    def add() -> None:
        while not over.is_set():
            code = f"LATE-{len(added):05}"
            try:
                add_article(server, code)
            except OSError:
                return
            added.append(code)

    thread = threading.Thread(target=add)
    thread.start()
    try:
        yield added
    finally:
        over.set()
        thread.join()


def test_when_the_box_is_gone_another_one_serves_what_it_had(installation: Home) -> None:
    with installation.serving(env=UNLIMITED) as server, replicating(installation) as litestream:
        add_article(server, "EARLY")
        litestream.await_all()
        before = last_event(installation)
        with adding(server) as added:
            time.sleep(3)
            server.kill()
            litestream.kill()
    other = take_over(installation, litestream.replica)
    with other.serving(env=UNLIMITED) as server:
        found = [code for page in (1, 2, 3) for code in codes(server, page)]
        assert "EARLY" in found
        late = [code for code in found if code != "EARLY"]
        assert late == added[: len(late)]  # only the end is missing, nothing before it
        assert len(late) > 0
        add_article(server, "ANEW")
    assert last_event(other) > before + LEAST_LEAP
    entries = other.ok("recovery", "list", "--json").json
    assert {each["check"] for each in entries["access"]} == {"user-unconfirmed"}  # the last seconds are unknown
    assert (entries["lost"], entries["access_unknown_after"] is None) == ([], False)
    assert is_right_but_for_open_entries(other)


def codes(server: Server, page: int) -> list[str]:
    answer = server.get(f"/api/articles?per_page=100&page={page}&sort=code")
    return sorted(record["code"] for record in answer[1]["data"])


def test_a_company_with_a_foreign_trigger_is_not_taken(installation: Home) -> None:
    installation.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    with installation.serving(env=UNLIMITED) as server, replicating(installation) as litestream:
        add_article(server, "KEPT")
        with closing(connect(installation.data / "companies" / "1.db")) as connection:
            connection.execute(TRIGGER)
        litestream.await_all()
        server.kill()
        litestream.kill()
    (installation.folder / "other").mkdir()
    other = Home(installation.program, installation.folder / "other")
    done = other.run("replica", "restore", litestream.replica, "--litestream", PROGRAM)
    assert (done.code, "trigger evil" in done.out + done.err) == (1, True), done
    assert [each.name for each in sorted((other.data / "companies").glob("*.db"))] == ["2.db"]


def test_a_company_that_is_made_or_restored_meanwhile_is_replicated_too(installation: Home) -> None:
    with installation.serving(env=UNLIMITED) as server, replicating(installation) as litestream:
        installation.ok("company", "create", "NEW", "--name", "New", "--all-modules")
        add_article(server, "KEPT")
        archive = back_up(installation)
        add_article(server, "LOST")
        litestream.await_all()
        installation.ok("backup", "restore", "--yes", archive, "--company", "ACME")
        add_article(server, "AFTER")
        litestream.await_all()
    other = take_over(installation, litestream.replica)
    assert sorted(company["code"] for company in other.ok("company", "list", "--json").json) == ["ACME", "NEW"]
    with other.serving() as server:
        assert sorted(articles(server)) == ["AFTER", "KEPT"]
    assert is_right_but_for_open_entries(other)


def test_status_says_what_is_behind(installation: Home) -> None:
    with installation.serving(env=SHARED) as server:
        done = installation.run("replica", "status", env=SHARED)
        assert done.code == 1
        assert done.wrong == [
            f"Litestream does not answer at {installation.data}/litestream.socket. Start Litestream: `wmsd "
            "replica config` shows its settings."
        ]
        assert server.get("/api/health", company=None)[1]["checks"]["replica"] == {
            "ok": False,
            "degraded": True,
            "files_behind": 0,
        }
        with replicating(installation) as litestream:
            assert (
                installation.ok("replica", "status", env=SHARED)
                .out.splitlines()[1]
                .startswith("replica  2 files are replicated, ")
            )
            assert server.get("/api/health", company=None)[1]["checks"]["replica"]["ok"]
            assert installation.run("replica", "status").wrong == [
                "replica.enabled is not set, so the server does not share its files with Litestream."
            ]
            litestream.kill()
        assert installation.run("replica", "status", env=SHARED).code == 1
    assert "replica" not in installation.run("status").out


def test_a_server_that_was_not_told_keeps_its_files_to_itself(installation: Home) -> None:
    done = installation.ok("replica", "config", "/mnt/spare")
    assert "only if replica.enabled = true" in done.err
    assert 'url: "file:///mnt/spare/companies"' in done.out
    assert f'"{installation.data.resolve()}/companies"' in done.out
    assert (
        'url: "sftp://me@spare/wmsd/companies"'
        in installation.ok("replica", "config", "sftp://me@spare/wmsd/").out
    )


def test_it_is_taken_into_an_empty_folder_only(installation: Home) -> None:
    sentence = installation.refused("replica", "restore", "replica", "--litestream", PROGRAM)
    assert sentence == (
        f"{installation.data} already contains data. Nothing was changed. Restore the replica into an "
        "empty folder (--data)."
    )


def test_without_a_replica_nothing_is_made(home: Home) -> None:
    sentence = home.refused("replica", "restore", "nowhere", "--litestream", PROGRAM)
    assert "nowhere/platform.db cannot be restored: " in sentence
    assert not (home.data / "platform.db").exists()
    assert not (home.data / ".replica").exists()
    assert "There is no program none-such" in home.refused("replica", "restore", "x", "--litestream", "none-such")


def test_a_company_that_the_replica_has_not_is_named(installation: Home) -> None:

    with installation.serving(env=SHARED), replicating(installation) as litestream:
        installation.ok("company", "create", "GONE", "--name", "Gone")
        litestream.await_all()
    shutil.rmtree(litestream.replica / "companies" / "2.db")
    (installation.folder / "other").mkdir()
    other = Home(installation.program, installation.folder / "other")
    done = other.run("replica", "restore", litestream.replica, "--litestream", PROGRAM)
    assert done.code == 1
    assert "GONE was not restored: " in done.err
    assert (other.data / "companies" / "1.db").exists()
