"""A site with one company, whose goods are in stock, and a receiver of its webhooks."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.backups import PASSPHRASE, UNLIMITED
from tests.support.command import Home, Server, Tenant, first_day
from tests.support.mailbox import ALLOWED, LONGEST, Mailbox, open_mailbox

ENVIRONMENT = {**UNLIMITED, **ALLOWED}


@dataclass
class Site:
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


@contextmanager
def open_site(home: Home) -> Iterator[Site]:
    """`words` in its folder is a file with a passphrase."""
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
