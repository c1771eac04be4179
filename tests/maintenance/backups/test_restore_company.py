"""`wmsd backup restore --company`: a restore of one company, with or without a running server."""

import threading
from pathlib import Path

import pytest

from tests.support.backups import (
    UNLIMITED,
    add_article,
    articles,
    back_up,
    backup_before_the_last_article,
    is_right,
    restore,
    sql,
)
from tests.support.command import Home, at_a_terminal, first_day
from tests.support.mailbox import ALLOWED, open_mailbox


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def saved(installation: Home) -> Path:
    return backup_before_the_last_article(installation)


def test_one_company_while_the_server_works(installation: Home, saved: Path) -> None:
    with installation.serving(env=UNLIMITED) as server:
        assert articles(server) == ["KEPT", "LOST"]
        said = restore(installation, saved, "--company", "ACME")
        assert (said["restored"], said["missing_events"]) == ("ACME", 1)
        assert articles(server) == ["KEPT"]
        add_article(server, "NEW")
        assert articles(server) == ["KEPT", "NEW"]
        kept = installation.folder / said["replaced"] / "companies" / "1.db"
        assert sql(kept, "SELECT code FROM articles ORDER BY id") == [("KEPT",), ("LOST",)]
        assert "the file of company 1 was restored" in server.log
    assert is_right(installation)


def test_what_would_be_lost_is_counted_while_the_server_uses_the_file(installation: Home, saved: Path) -> None:
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "LATER")
        assert articles(server) == ["KEPT", "LOST", "LATER"]
        for answer, code, left in (("n", 1, ["KEPT", "LOST", "LATER"]), ("y", 0, ["KEPT"])):
            asked = ("backup", "restore", saved, "--company", "ACME")
            done = at_a_terminal(installation, *asked, answers=[answer])
            said = " ".join(done.err.split())
            assert (done.code, "at least 2 events of ACME" in said) == (code, True), said
            assert articles(server) == left


def test_one_company_without_a_server(installation: Home, saved: Path) -> None:
    assert restore(installation, saved, "--company", "ACME")["missing_events"] == 1
    with installation.serving() as server:
        assert articles(server) == ["KEPT"]


def test_an_older_file_in_its_place_is_served_and_said(installation: Home) -> None:
    """A copy was put back by hand. The event numbers continue, and the missing events are reported."""
    file = installation.data / "companies" / "1.db"
    with installation.serving(env=UNLIMITED) as server:
        add_article(server, "KEPT")
    older = file.read_bytes()
    with installation.serving(env=UNLIMITED) as server:
        for number in range(3):
            add_article(server, f"LOST{number}")
    file.write_bytes(older)
    examined = installation.run("doctor")
    assert examined.code == 1
    assert (
        "ACME: the file must contain every change that wmsd wrote to it; but the last change (event 1 in "
        "the file, event 4 in platform.db): " in examined.out
    )
    with installation.serving(env=UNLIMITED) as server:
        assert articles(server) == ["KEPT"]
        assert f"company ACME: {installation.data}/companies/1.db is older than its last known state" in server.log
        assert "and 3 events (2 to 4) after that are missing" in server.log
        add_article(server, "NEW")
    assert sql(file, "SELECT max(sequence) FROM events") == [(10_005,)], "the last minute is not known"
    with installation.serving(env=UNLIMITED) as server:
        assert articles(server) == ["KEPT", "NEW"]
        assert "is older" not in server.log
    assert is_right(installation)


def test_requests_meanwhile_wait_or_are_told(installation: Home, saved: Path) -> None:
    """Each request is answered. After the restore, each acknowledged write is in one of the two files."""
    done, stop = list[str](), threading.Event()
    with installation.serving(env=UNLIMITED) as server:

        def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                status, _ = server.send("POST", "/api/articles", {"code": f"W{number}", "name": "W"})
                assert status in (201, 503), status
                if status == 201:
                    done.append(f"W{number}")

        writer = threading.Thread(target=write)
        writer.start()
        replaced = []
        for _ in range(5):
            replaced.append(restore(installation, saved, "--company", "ACME")["replaced"])
        stop.set()
        writer.join()
        there = set(articles(server))
        for folder in replaced:
            there |= {
                code
                for (code,) in sql(
                    installation.folder / folder / "companies" / "1.db", "SELECT code FROM articles"
                )
            }
    assert set(done) <= there
    assert len(done) > 5
    assert is_right(installation)


def test_deliveries_go_on_with_numbers_of_their_own(installation: Home) -> None:
    """A receiver never gets the same number twice, and the restored subscription keeps its credentials."""
    with open_mailbox() as mailbox, installation.serving(env={**UNLIMITED, **ALLOWED}) as server:
        body = {"name": "R", "url": mailbox.url, "events": ["*"], "secret": "a secret that nobody guesses, ever"}
        assert server.send("POST", "/api/webhooks", body)[0] == 201
        add_article(server, "KEPT")
        mailbox.wait_for(1)
        archive = back_up(installation)
        add_article(server, "LOST")
        mailbox.wait_for(2)
        restore(installation, archive, "--company", "ACME")
        add_article(server, "NEW")
        sent = {letter.json["data"]["code"]: letter for letter in mailbox.wait_for(3)}
        assert set(sent) == {"KEPT", "LOST", "NEW"}
        numbers = {code: int(letter.headers["x-webhook-sequence"]) for code, letter in sent.items()}
        assert numbers["KEPT"] < numbers["LOST"] < numbers["NEW"]


def test_a_company_that_is_not_there(installation: Home, saved: Path) -> None:
    sentence = installation.refused("backup", "restore", "--yes", saved, "--company", "NOBODY")
    assert sentence == f"{saved} has no company NOBODY. The archive has ACME."
