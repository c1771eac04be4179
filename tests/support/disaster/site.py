"""A site with one company, whose goods are in stock, and a receiver of its webhooks."""

import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from tests.support.backups import PASSPHRASE, UNLIMITED
from tests.support.command import EMAIL, Home, Server, Tenant, first_day
from tests.support.disaster.integrator import ask
from tests.support.litestream import SHARED
from tests.support.mailbox import ALLOWED, LONGEST, Mailbox, open_mailbox

ENVIRONMENT = {**UNLIMITED, **ALLOWED, **SHARED}
SECRET: Final = "a secret that nobody guesses, ever"
Seal = Literal["a passphrase", "a recovery phrase", "nothing"]
SEALS: Final[tuple[Seal, ...]] = get_args(Seal)


@dataclass
class Site:
    """A site under test.

    `seal` says how the keys in its backups are encrypted. The secret is in the file `words` in the site's folder.
    """

    home: Home
    mailbox: Mailbox
    seal: Seal
    webhook: int = 0
    _others: int = 0

    def __post_init__(self) -> None:
        self.folder = self.home.folder
        """The folder of the site, which also holds its other installations."""

    @property
    def backup_options(self) -> tuple[str, ...]:
        return ("--passphrase-file", "words") if self.seal == "a passphrase" else ()

    @property
    def restore_options(self) -> tuple[str, ...]:
        return () if self.seal == "nothing" else ("--passphrase-file", "words")

    def make_anew_what_is_lost(self, keys_are_lost: bool) -> None:
        """Settle the recovery list by confirming all accesses.

        If the keys are lost, create a token and set the credentials of the webhook first.
        """
        if keys_are_lost:
            self._make_a_token()
        with self.serving() as server:
            if keys_are_lost:
                told = ask(server, "PATCH", f"/api/v2/webhooks/{self.webhook}", {"secret": SECRET})
                assert told.status == 200, told
            until = time.monotonic() + LONGEST
            while "webhooks-not-looked-at" in self.home.run("doctor", "--json").out:
                assert time.monotonic() < until
                time.sleep(0.1)
            self.home.ok("recovery", "confirm", "--all")

    def _make_a_token(self) -> None:
        token = self.home.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip()
        self.home.write("token", token)

    def new_installation(self) -> Home:
        """Return an installation without companies, in a separate folder."""
        self._others += 1
        folder = self.folder / f"other-{self._others}"
        folder.mkdir()
        other = Home(self.home.program, folder, self.home.environment)
        with other.serving(env=ENVIRONMENT, is_fresh=True):  # forks of one process would draw the same ids
            pass
        return other

    def settle_in(self, other: Home) -> None:
        """Continue in another installation, to which the company was moved."""
        shutil.copyfile(self.home.folder / "words", other.folder / "words")
        (other.folder / "words").chmod(0o600)
        user = ("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin")
        other.ok(*user, stdin=f"{PASSPHRASE}\n")
        other.ok("webhook", "on", str(self.webhook), "--company", "ACME")
        self.home = other
        self._make_a_token()

    @contextmanager
    def serving(self) -> Iterator[Server]:
        with self.home.serving(env=ENVIRONMENT) as server:
            yield server

    def receives(self, events: Iterable[str]) -> None:
        """Wait until the mailbox has received the events with these ids."""
        until = time.monotonic() + LONGEST
        while missing := set(events) - {letter.headers["x-webhook-id"] for letter in self.mailbox.letters}:
            assert time.monotonic() < until, missing
            time.sleep(0.02)

    @property
    def file(self) -> Path:
        return self.home.data / "companies" / "1.db"


@contextmanager
def open_site(home: Home, seal: Seal = "a passphrase") -> Iterator[Site]:
    acme = Tenant(first_day(home), "ACME")
    words = PASSPHRASE
    if seal == "a recovery phrase":
        words = home.ok("recovery-phrase", "create").out.strip()
    home.write("words", words).chmod(0o600)
    if seal == "a recovery phrase":
        home.ok("recovery-phrase", "check", "--passphrase-file", "words")
    with open_mailbox() as mailbox:
        made = Site(home, mailbox, seal)
        with made.serving() as server:
            body = {"name": "R", "url": mailbox.url, "events": ["*"], "secret": SECRET}
            status, subscribed = server.send("POST", "/api/webhooks", body)
            assert status == 201, subscribed
            made.webhook = subscribed["id"]
        acme.take("warehouses", "code,name\nMAIN,Main hall\n")
        acme.take("partners", "code,name,type\nP,Partner,CLIENT\n")
        acme.take("articles", "code,name\nGOODS,Goods\n")
        acme.take("stock", "article_code,warehouse_code,quantity\nGOODS,MAIN,1000\n")
        yield made
