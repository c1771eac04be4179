"""What an integrator meets after each kind of rescue: nothing is given twice, and it knows what it misses
(decisions, section 11).
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backups import back_up, is_right, restore, sql
from tests.support.command import Home, Tenant
from tests.support.disaster.drill import lose_what_came_after_a_backup, numbers_are_given_once, reads_on
from tests.support.disaster.integrator import ARTICLES, EVENTS, Integrator, Walked, ask, walk
from tests.support.disaster.rescues import RESCUES, Rescue, restore_everything
from tests.support.disaster.site import Site, open_site


@pytest.fixture
def site(home: Home) -> Iterator[Site]:
    with open_site(home) as made:
        yield made


@pytest.mark.parametrize("rescue", RESCUES, ids=lambda rescue: rescue.__name__)
def test_an_integrator_reads_on_and_meets_no_number_twice(site: Site, rescue: Rescue) -> None:
    integrator = Integrator()
    for name in ("first", "second"):
        lose_what_came_after_a_backup(site, integrator, name, rescue)
        reads_on(site, integrator, name)
        assert is_right(site.home)
        made = back_up(site.home)
        assert "can be restored" in site.home.ok("backup", "verify", made).out
        site.home.ok("company", "export", "ACME", f"{name}.tar.gz")
    numbers_are_given_once(site.mailbox.letters)


def test_the_feed_says_where_it_was_cut(site: Site) -> None:
    integrator = Integrator()
    lose_what_came_after_a_backup(site, integrator, "first", restore_everything)
    with site.serving() as server:
        integrator.work(server, "new")
        told = walk(server, EVENTS, None)
        assert isinstance(told, Walked)
        [cut] = told.cuts
        assert (cut["reason"], cut["epoch"]) == ("restore", ask(server, "GET", EVENTS).body["epoch"])
        page = ask(server, "GET", f"{EVENTS}?per_page=500").body
        assert page["cuts"] == [cut]


def test_gaps_from_before_seams_were_recorded_are_no_fault(site: Site) -> None:
    """A file of an older version whose restore has left a gap is taken over."""
    integrator = Integrator()
    with site.serving() as server:
        integrator.work(server, "first")
        integrator.read(server)
        site.receives(integrator.events)
    sql_script(
        site.file,
        """
        UPDATE webhook_deliveries SET sequence = sequence + 20 WHERE id > 2;
        UPDATE webhook_subscriptions SET last_sequence = last_sequence + 40;
        """,
    )
    assert site.home.run("doctor").code == 1
    as_it_was_before_seams(site.file)
    with site.serving() as server:
        integrator.work(server, "second")
        integrator.read(server)
    assert is_right(site.home)
    assert "can be restored" in site.home.ok("backup", "verify", back_up(site.home)).out


def as_it_was_before_seams(file: Path) -> None:
    """Takes the file back to the schema before epochs."""
    sql_script(
        file,
        """
        CREATE TABLE ids_given (table_name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        DROP TABLE seams;
        DROP TABLE epochs;
        DELETE FROM sqlite_sequence WHERE name IN (
            'clients', 'partners', 'warehouses', 'articles', 'stock', 'stock_movements', 'sales_orders', 'returns',
            'transports', 'packaging_types', 'packaging_balances', 'packaging_movements'
        );
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'KEY AUTOINCREMENT,', 'KEY,')
        WHERE type = 'table' AND name IN (
            'clients', 'partners', 'warehouses', 'articles', 'stock', 'stock_movements', 'sales_orders', 'returns',
            'transports', 'packaging_types', 'packaging_balances', 'packaging_movements'
        );
        PRAGMA writable_schema = RESET;
        PRAGMA user_version = 25;
        """,
    )


def sql_script(file: Path, script: str) -> None:
    from wmsd.db.sqlite import sqlite3

    connection = sqlite3.connect(file)
    try:
        connection.executescript(script)
    finally:
        connection.close()


def test_ids_are_not_given_again_to_what_comes_after_an_undone_import(site: Site) -> None:
    acme = Tenant(site.home, "ACME")
    assert acme.take("articles", "code,name\nA,A\nB,B\n") == (2, 0, 0)
    [(last,)] = sql(site.file, "SELECT max(id) FROM articles")
    site.home.ok("import", "undo", "--company", "ACME", "--yes")
    with site.serving() as server:
        assert ask(server, "POST", ARTICLES, {"code": "C", "name": "C"}).body["id"] == last + 1


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
    assert sql(site.file, "SELECT max(sequence), count(*) FROM webhook_deliveries") == [(11, 11)]
    assert is_right(site.home)


def test_an_import_can_be_undone_after_a_restore_while_nothing_was_built_on_it(site: Site) -> None:
    """A restore gives every record a new place, and that is no change of it."""
    acme = Tenant(site.home, "ACME")
    assert acme.take("articles", "code,name\nA,A\nGOODS,Goods otherwise\n") == (1, 1, 0)
    restore(site.home, back_up(site.home), "--company", "ACME")
    site.home.ok("import", "undo", "--company", "ACME", "--yes")
    assert sql(site.file, "SELECT code, name FROM articles") == [("GOODS", "Goods")]
    assert acme.take("articles", "code,name\nB,B\n") == (1, 0, 0)
    with site.serving() as server:
        found = {each["code"]: each["id"] for each in ask(server, "GET", ARTICLES).body["data"]}
        assert ask(server, "PATCH", f"{ARTICLES}/{found['B']}", {"name": "x"}).status == 200
    restore(site.home, back_up(site.home), "--company", "ACME")
    assert "B" in site.home.refused("import", "undo", "--company", "ACME", "--yes")
    assert is_right(site.home)
