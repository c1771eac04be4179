"""Tests of what an integrator sees after each kind of rescue: no number is used twice, and the integrator knows
what is missing (decisions, section 11).
"""

import shutil
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.backups import back_up, is_right, restore, sql
from tests.support.command import Home, Tenant
from tests.support.disaster.drill import drill, lose_what_came_after_a_backup
from tests.support.disaster.integrator import ARTICLES, EVENTS, Integrator, Walked, ask, walk
from tests.support.disaster.rescues import EMPTY_FOLDER, EVERYTHING, OTHER_RESCUES, RESCUES, Rescue
from tests.support.disaster.site import Site, open_site
from wmsd.db.engine.sqlite import sqlite3

RELEASED = Path(__file__).parents[2] / "released"


@pytest.fixture
def site(home: Home) -> Iterator[Site]:
    with open_site(home, "a recovery phrase") as made:
        yield made


@pytest.mark.parametrize(
    "rescue", (*(each for each in RESCUES if each != EVERYTHING), *OTHER_RESCUES), ids=lambda rescue: rescue.name
)
def test_an_integrator_reads_on_and_meets_no_number_twice(site: Site, rescue: Rescue) -> None:
    """Each kind of rescue is tested once. `scripts/soak --only disaster` runs each three times in a row."""
    drill(site, rescue, ["only"])


def test_the_same_after_a_second_disaster(site: Site) -> None:
    drill(site, EVERYTHING, ["first", "second"])


def test_it_reads_everything_anew_where_the_keys_are_lost(home: Home) -> None:
    with open_site(home, "nothing") as site:
        drill(site, EMPTY_FOLDER, ["only"])


def test_the_feed_says_where_it_was_cut(site: Site) -> None:
    integrator = Integrator()
    lose_what_came_after_a_backup(site, integrator, "first", EVERYTHING)
    with site.serving() as server:
        integrator.work(server, "new")
        told = walk(server, EVENTS, None)
        assert isinstance(told, Walked)
        [cut] = told.cuts
        assert (cut["reason"], cut["epoch"]) == ("restore", ask(server, "GET", EVENTS).body["epoch"])
        page = ask(server, "GET", f"{EVENTS}?per_page=500").body
        assert page["cuts"] == [cut]


def test_gaps_from_before_seams_were_recorded_are_no_fault(home: Home) -> None:
    """Gaps from before seams were recorded are no error.

    After a restore by version 1.0.0 the numbers continued after a gap.
    """
    with tarfile.open(RELEASED / "wmsd-1.0.0.tar.gz") as archive:
        archive.extractall(home.data, filter="data")
    file = home.data / "companies" / "1.db"
    assert sql(file, "SELECT max(sequence), count(*) FROM webhook_deliveries") == [(36, 36)]
    change(file, "UPDATE webhook_deliveries SET sequence = sequence + 20 WHERE id > 10")
    change(file, "UPDATE webhook_subscriptions SET last_sequence = 99")
    with home.serving():
        assert is_right(home)
    assert "can be restored" in home.ok("backup", "verify", back_up(home)).out
    assert sql(file, "SELECT last, next FROM seams ORDER BY next") == [(10, 31), (56, 100)]


def test_a_gap_that_nobody_has_made_on_purpose_is_a_fault(site: Site) -> None:
    integrator = Integrator()
    with site.serving() as server:
        integrator.work(server, "first")
        site.receives(integrator.events)
    change(site.file, "UPDATE webhook_deliveries SET sequence = sequence + 20 WHERE id > 2")
    examined = site.home.run("doctor")
    assert examined.code == 1
    assert "the webhook deliveries of a subscription must be numbered without gaps" in examined.out


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


def test_ids_are_not_given_again_to_what_comes_after_an_undone_import(site: Site) -> None:
    acme = Tenant(site.home, "ACME")
    assert acme.take("articles", "code,name\nA,A\nB,B\n") == (2, 0, 0)
    [(last,)] = sql(site.file, "SELECT max(id) FROM articles")
    site.home.ok("import", "undo", "--company", "ACME", "--yes")
    with site.serving() as server:
        assert ask(server, "POST", ARTICLES, {"code": "C", "name": "C"}).body["id"] == last + 1


def test_numbers_go_on_after_those_that_a_later_backup_has_seen(site: Site) -> None:
    """Numbers continue after those that a later backup has seen.

    An older backup is restored into an empty folder, and the later one shows how far the company had come.
    """
    options = ("--passphrase-file", "words")
    archive = back_up(site.home, "older.tar.gz", *options)
    change(site.file, "UPDATE sqlite_sequence SET seq = 1000000 WHERE name = 'events'")
    back_up(site.home, "later.tar.gz", *options)
    site.home.write("broken.tar.gz", b"no archive")
    shutil.rmtree(site.home.data)
    restore(site.home, archive, *options)
    [(series,)] = sql(site.file, "SELECT min(last) FROM series")
    [(events,)] = sql(site.file, "SELECT seq FROM sqlite_sequence WHERE name = 'events'")
    assert (events > 11_000_000, series > 10_000_000) == (True, True)  # ten times the missing numbers


def test_numbers_need_not_leap_where_nothing_was_written_after_the_backup(site: Site) -> None:
    integrator = Integrator()
    with site.serving() as server:
        integrator.work(server, "first")
        integrator.read(server)
        site.receives(integrator.events)
    archive = back_up(site.home, "--passphrase-file", "words")
    shutil.rmtree(site.home.data)
    restore(site.home, archive, "--passphrase-file", "words", "--nothing-after")
    with site.serving() as server:
        integrator.work(server, "second")
        assert sorted(integrator.created.values()) == ["SO-000001", "SO-000002", "first-article", "second-article"]
        assert integrator.read_on(server) is not None
        assert integrator.has_all_events_of(server)
    assert sql(site.file, "SELECT max(sequence), count(*) FROM webhook_deliveries") == [(10, 10)]
    assert is_right(site.home)


def test_an_import_can_be_undone_after_a_restore_while_nothing_was_built_on_it(site: Site) -> None:
    """An import can be undone after a restore if nothing depends on it.

    A restore gives every record a new position, which is no change.
    """
    acme = Tenant(site.home, "ACME")
    assert acme.take("articles", "code,name\nA,A\nGOODS,Goods otherwise\n") == (1, 1, 0)
    restore(site.home, back_up(site.home, "before.tar.gz"), "--company", "ACME")
    site.home.ok("import", "undo", "--company", "ACME", "--yes")
    assert sql(site.file, "SELECT code, name FROM articles") == [("GOODS", "Goods")]
    assert acme.take("articles", "code,name\nB,B\n") == (1, 0, 0)
    with site.serving() as server:
        found = {each["code"]: each["id"] for each in ask(server, "GET", ARTICLES).body["data"]}
        assert ask(server, "PATCH", f"{ARTICLES}/{found['B']}", {"name": "x"}).status == 200
    restore(site.home, back_up(site.home, "after.tar.gz"), "--company", "ACME")
    [sentence, _] = site.home.refusals("import", "undo", "--company", "ACME", "--yes")
    assert "B" in sentence
    assert is_right(site.home)


def test_a_restore_that_is_repeated_loses_nothing_more(site: Site) -> None:
    """A repeated restore loses nothing more. The new position of every record is no change."""
    archive = back_up(site.home, "before.tar.gz")
    for _ in range(2):
        done = site.home.ok("backup", "restore", archive, "--company", "ACME", "--yes")
        assert "is missing" not in done.err
