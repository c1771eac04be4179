"""What an integrator meets after each kind of rescue: nothing is given twice, and it knows what it misses
(decisions, section 11).
"""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.backups import PASSPHRASE, UNLIMITED, back_up, is_right, restore, sql
from tests.support.command import Home, Server, Tenant, first_day
from tests.support.integrator import (
    ARTICLES,
    EVENTS,
    ORDERS,
    Integrator,
    Walked,
    ask,
    codes_changed_since,
    event_after,
    walk,
)
from tests.support.mailbox import ALLOWED, LONGEST, Letter, Mailbox, open_mailbox

ENVIRONMENT = {**UNLIMITED, **ALLOWED}


@dataclass
class Site:
    """A home with one company, whose goods are in stock, and a receiver of its webhooks."""

    home: Home
    mailbox: Mailbox

    @contextmanager
    def serving(self) -> Iterator[Server]:
        with self.home.serving(env=ENVIRONMENT) as server:
            yield server

    def receives(self, events: Iterable[str]) -> None:
        """Waits until each of these events has come, by its id."""
        until = time.monotonic() + LONGEST
        while missing := set(events) - {letter.headers["x-webhook-id"] for letter in self.mailbox.letters}:
            assert time.monotonic() < until, missing
            time.sleep(0.02)

    @property
    def file(self) -> Path:
        return self.home.data / "companies" / "1.db"


@pytest.fixture
def site(home: Home) -> Iterator[Site]:
    acme = Tenant(first_day(home), "ACME")
    home.write("words", PASSPHRASE).chmod(0o600)
    with open_mailbox() as mailbox:
        made = Site(home, mailbox)
        with made.serving() as server:
            body = {
                "name": "R",
                "url": mailbox.url,
                "events": ["*"],
                "secret": "a secret that nobody guesses, ever",
            }
            assert server.send("POST", "/api/webhooks", body)[0] == 201
        acme.take("warehouses", "code,name\nMAIN,Main hall\n")
        acme.take("partners", "code,name,type\nP,Partner,CLIENT\n")
        acme.take("articles", "code,name\nGOODS,Goods\n")
        acme.take("stock", "article_code,warehouse_code,quantity\nGOODS,MAIN,1000\n")
        yield made


Rescue = Callable[[Site, Path, bytes], None]
"""Is given an archive, and the bytes of the company's file when it was made."""


def restore_the_company(site: Site, archive: Path, older: bytes) -> None:
    restore(site.home, archive, "--company", "ACME")


def restore_the_company_beside_a_server(site: Site, archive: Path, older: bytes) -> None:
    with site.serving():
        restore(site.home, archive, "--company", "ACME")


def restore_everything(site: Site, archive: Path, older: bytes) -> None:
    restore(site.home, archive)


def restore_into_an_empty_folder(site: Site, archive: Path, older: bytes) -> None:
    shutil.rmtree(site.home.data)
    restore(site.home, archive, "--passphrase-file", "words")


def restore_a_damaged_file(site: Site, archive: Path, older: bytes) -> None:
    content = bytearray(site.file.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    site.file.write_bytes(content)
    restore(site.home, archive, "--company", "ACME")


def restore_a_lost_file(site: Site, archive: Path, older: bytes) -> None:
    site.file.unlink()
    restore(site.home, archive, "--company", "ACME")


def put_an_older_file_back(site: Site, archive: Path, older: bytes) -> None:
    site.file.write_bytes(older)


RESCUES = (
    restore_the_company,
    restore_the_company_beside_a_server,
    restore_everything,
    restore_into_an_empty_folder,
    restore_a_damaged_file,
    restore_a_lost_file,
    put_an_older_file_back,
)


def lose_what_came_after_a_backup(site: Site, integrator: Integrator, name: str, rescue: Rescue) -> None:
    """The integrator has read everything, also what is lost."""
    with site.serving() as server:
        integrator.work(server, f"{name}-kept")
        integrator.read(server)
    archive = back_up(site.home, "--passphrase-file", "words")
    older = site.file.read_bytes()
    with site.serving() as server:
        integrator.work(server, f"{name}-lost")
        integrator.read(server)
        site.receives(integrator.events)
    rescue(site, archive, older)


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


def reads_on(site: Site, integrator: Integrator, name: str) -> None:
    lost = [event for event in integrator.events.values() if f"{name}-lost" in str(event["data"])]
    with site.serving() as server:
        knows_that_events_are_gone(server, integrator, lost)
        meets_all_records_again(server, integrator)
        changes_no_stranger(server, integrator, name)
        repeats_what_was_lost(server, integrator, name)
        integrator.work(server, f"{name}-new")
        integrator.read(server)
        assert integrator.has_all_events_of(server)
        site.receives(integrator.events)


def knows_that_events_are_gone(server: Server, integrator: Integrator, lost: list[dict[str, str]]) -> None:
    after = event_after(server, lost[-1]["id"])
    refused = integrator.read_on(server)
    assert refused is not None, "a cursor of what is gone was taken"
    for told, field in ((refused, "cursor"), (after, "after")):
        assert (told.status, told.body["code"], list(told.body["errors"])) == (422, "VALIDATION_FAILED", [field])
        details = told.body["details"]
        assert set(details) == {"epoch", "kept_up_to", "restored_at", "cursor"}
        assert details["kept_up_to"] < min(event["timestamp"] for event in lost) < details["restored_at"]
    told = ask(server, "GET", f"{EVENTS}?per_page=500").body
    assert told["epoch"] == refused.body["details"]["epoch"]
    assert integrator.has_all_events_of(server)


def meets_all_records_again(server: Server, integrator: Integrator) -> None:
    there = {record["code"] for record in ask(server, "GET", f"{ARTICLES}?per_page=200").body["data"]}
    assert codes_changed_since(server, integrator.as_of) == there


def changes_no_stranger(server: Server, integrator: Integrator, name: str) -> None:
    """With an ETag of what is lost, of an id that is there or is not."""
    for record_id, etag in integrator.etags.items():
        told = ask(server, "PATCH", f"{ARTICLES}/{record_id}", {"name": "x"}, If_Match=etag)
        assert told.status in (404, 412), (record_id, told)


def repeats_what_was_lost(server: Server, integrator: Integrator, name: str) -> None:
    """With its key, which is not known any more: the answer says that it may have been sent before."""
    told = ask(server, "POST", ORDERS, integrator.keys[f"{name}-lost-order"], Idempotency_Key=f"{name}-lost-order")
    assert told.status == 201
    assert told.body["code"] not in integrator.created.values()
    integrator.created[ORDERS, told.body["id"]] = told.body["code"]
    assert told.headers["x-history-cut"] <= told.body["created_at"]
    kept = ask(server, "POST", ORDERS, integrator.keys[f"{name}-kept-order"], Idempotency_Key=f"{name}-kept-order")
    assert (kept.status, kept.headers["idempotent-replayed"]) == (201, "true")
    assert integrator.created[ORDERS, kept.body["id"]] == kept.body["code"]


def numbers_are_given_once(letters: list[Letter]) -> None:
    """A receiver sees no number with other content, and each number that it lacks is named in a gap."""
    by_number: dict[int, str] = {}
    named = set[int]()
    for letter in letters:
        number, event = int(letter.headers["x-webhook-sequence"]), letter.headers["x-webhook-id"]
        assert by_number.setdefault(number, event) == event, f"number {number} was given twice"
        if "x-webhook-sequence-gap" in letter.headers:
            first, last = map(int, letter.headers["x-webhook-sequence-gap"].split("-"))
            named |= set(range(first, last + 1))
    assert set(range(1, max(by_number) + 1)) <= by_number.keys() | named
    epochs = list(dict.fromkeys(letter.headers["x-webhook-epoch"] for letter in letters))
    assert [name.partition("-")[0] for name in epochs] == ["1", "2", "3"]


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
