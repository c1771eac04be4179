"""`wmsd company suspend` and `resume`: within two seconds nobody can use the company, and its data stay."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.backups import UNLIMITED, add_article, articles, back_up, is_right
from tests.support.command import Home, Server, first_day
from tests.support.mailbox import ALLOWED, Mailbox, open_mailbox

WITHIN = 2.0
SECRET = "a secret that nobody guesses, ever"
SENTENCE = "The company ACME has been suspended since "
QUERY = {"query": "{ articles(first: 1) { nodes { id } } }"}


@pytest.fixture
def acme(home: Home) -> Home:
    first_day(home)
    home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    home.ok("import", "warehouses", "-", "--company", "ACME", stdin="code,name\nMAIN,Main\n")
    return home


@contextmanager
def serving(home: Home) -> Iterator[Server]:
    with home.serving(env={**UNLIMITED, **ALLOWED}) as server:
        yield server


def soon(holds: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_refused(told: tuple[int, Any]) -> bool:
    status, body = told
    return status == 403 and SENTENCE in json.dumps(body)


def subscribe(server: Server, mailbox: Mailbox) -> None:
    body = {"name": "R", "url": mailbox.url, "events": ["*"], "secret": SECRET}
    assert server.send("POST", "/api/webhooks", body)[0] == 201


def test_everything_of_it_is_refused_within_two_seconds_and_others_go_on(acme: Home) -> None:
    site = acme.ok("site", "create", "ACME", "MAIN", "--name", "Dock 1", "--json").json["token"]
    with serving(acme) as server:
        add_article(server, "KEPT")
        assert server.get("/api/integrations/etsm/orders", token=site, company=None)[0] == 200
        said = acme.ok("company", "suspend", "ACME", "--reason", "the contract has ended").err
        assert "To end the suspension: wmsd company resume ACME" in said
        soon(lambda: is_refused(server.get("/api/articles")), WITHIN)
        for told in (
            server.get("/api/v2/articles"),
            server.send("POST", "/api/articles", {"code": "B", "name": "B"}),
            server.send("POST", "/api/graphql", QUERY),
            server.send("POST", "/api/v2/batch", {"requests": [{"method": "GET", "path": "/api/v2/articles"}]}),
            server.get("/api/integrations/etsm/orders", token=site, company=None),
        ):
            assert is_refused(told), told
        assert server.get("/api/articles")[1]["message"].endswith(
            ": the contract has ended. Its data is kept; ask the platform admin."
        )
        assert server.get("/api/articles", company=2)[0] == 200
        assert back_up(acme).exists()
    with serving(acme) as server:  # a restart changes nothing
        assert is_refused(server.get("/api/articles"))
        assert acme.run("status", "--json").json["suspended"].startswith("ACME since ")
        acme.ok("company", "resume", "ACME")
        soon(lambda: server.get("/api/articles")[0] == 200, WITHIN)
        assert articles(server) == ["KEPT"]
    assert "suspended" not in acme.run("status", "--json").json
    assert is_right(acme)


def test_its_webhooks_wait_and_are_sent_afterwards(acme: Home) -> None:
    with open_mailbox() as mailbox, serving(acme) as server:
        subscribe(server, mailbox)
        mailbox.delay = 0.5
        for number in range(20):
            add_article(server, f"A{number}")
        acme.ok("company", "suspend", "ACME")
        time.sleep(WITHIN)
        came = len(mailbox.letters)
        assert came < 20
        time.sleep(1.5)
        assert len(mailbox.letters) == came
        acme.ok("company", "resume", "ACME")
        mailbox.delay = 0
        letters = mailbox.wait_for(20)
        assert {int(each.headers["x-webhook-sequence"]) for each in letters} == set(range(1, 21))


def test_it_is_said_once_and_audited_without_a_server_too(acme: Home) -> None:
    assert "ACME is not suspended. Nothing was changed." in acme.ok("company", "resume", "ACME").err
    acme.ok("company", "suspend", "ACME")
    assert acme.ok("company", "show", "ACME", "--json").json["suspended_at"] is not None
    assert "ACME is already suspended. Nothing was changed." in acme.ok("company", "suspend", "ACME").err
    assert "no such company" in acme.refused("company", "suspend", "NONE").lower()
    assert "300" in acme.refused("company", "suspend", "OTHER", "--reason", "x" * 301)
    acme.ok("company", "resume", "ACME")
    listed = acme.ok("audit", "--json").json
    assert [each["action"] for each in listed if each["action"].startswith("company.")][-2:] == [
        "company.suspend",
        "company.resume",
    ]
