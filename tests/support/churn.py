"""A server with many companies, of which it can open only a few at a time, and clients that use them in turn."""

import asyncio
import base64
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Final

from benchmarks import many_companies
from tests.support.command import EMAIL, Home, Server, first_day
from tests.support.contention import V1, V2, order
from tests.support.faults.load import LINES, PATIENCE, READS, Asked, Told
from tests.support.faults.scene import FILES, SETTINGS
from tests.support.hostile.scene import Tenant
from tests.support.raw_http import Caller, Connection
from tests.support.receivers import Receivers
from tests.support.wholeness import NOT_TOLD_ONCE
from wmsd.db.engine.sqlite import connect
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

FIRST: Final = "ACME"
NOT_LENT: Final = "The running server did not give this command access to "
LIST_OF_ORDERS: Final = "/api/v2/sales-orders?per_page=20"


@dataclass(frozen=True)
class Site:
    """An installation with many companies. The first `subscribed` companies have a webhook for new orders."""

    home: Home
    tenants: list[Tenant]
    subscribed: int
    receivers: Receivers

    def rows(self, tenant: Tenant, sql: str) -> list[Any]:
        """Return rows of the company's file. No server may be running."""
        connection = connect(self.home.data / "companies" / f"{tenant.company}.db")
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def flaws(self) -> Iterator[str]:
        """Yield a sentence for each promise that the files break. No server may be running."""
        examined = self.home.run("doctor", "--json")
        if examined.code not in (0, ONLY_WARNINGS):
            yield f"wmsd doctor finds {examined.out.strip() or examined.err.strip()}"
        for tenant in self.tenants:
            for order_code, times in self.rows(tenant, NOT_TOLD_ONCE):
                yield f"{order_code} of company {tenant.company} has {times} sales_order.created."

    def stored(self, tenant: Tenant) -> Counter[str]:
        """Return how many times the company's file has each order, by the order's notes."""
        return Counter(notes for (notes,) in self.rows(tenant, "SELECT notes FROM sales_orders"))

    @property
    def codes(self) -> list[str]:
        return [FIRST, *(f"{FIRST}-{number}" for number in range(1, len(self.tenants)))]

    def mistaken(self, imports: "Imports") -> Iterator[str]:
        """Yield a sentence for each article about which a command reported something untrue.

        No server may be running.
        """
        stored = {
            (code, article)
            for code, tenant in zip(self.codes, self.tenants, strict=True)
            for (article,) in self.rows(tenant, "SELECT code FROM articles")
        }
        for company, article in imports.imported - stored:
            yield f"{article} of {company} was imported, and is not there."
        for company, article in imports.refused & stored:
            yield f"{article} of {company} was refused, and is there."

    def untold(self, asked: Sequence[Asked], longest: float) -> set[tuple[int, str]]:
        """Return the created orders of subscribed companies that no receiver got within `longest` seconds.

        Each entry has the company's id and the order's notes.
        """
        done = {
            (self.tenants[each.place].company, each.name)
            for each in asked
            if each.told is Told.DONE and each.name and each.place < self.subscribed
        }
        until = time.monotonic() + longest
        while (left := done - self._received()) and time.monotonic() < until:
            time.sleep(0.2)
        return left

    def _received(self) -> set[tuple[int, str]]:
        """Return the company's id and the order's notes for each order that a receiver got."""
        return {
            (int(each["path"].partition("=")[2]), body["data"]["notes"])
            for each in self.receivers.recorded()
            if (body := _decoded(each["body"]))["event"] == "sales_order.created"
        }


def _decoded(body: str) -> Any:
    return json.loads(base64.b64decode(body))


def made_in(home: Home, companies: int, subscribed: int, receivers: Receivers) -> Site:
    """Create a site in `home`. Each company after the first is a copy of the first."""
    home.environment |= SETTINGS | {
        "WMSD_WEBHOOKS_ALLOW_NETWORKS": "127.0.0.1/32",
        "WMSD_WEBHOOKS_ALLOW_PORTS": "1-65535",
        "WMSD_WEBHOOKS_ALLOW_HTTP": "true",
    }
    first_day(home)
    for kind, text in FILES.items():
        home.ok("import", kind, "-", "--company", FIRST, stdin=text)
    made = asyncio.run(many_companies.make(home.data, FIRST, companies, EMAIL))
    tenants = [Tenant(company, token) for company, token in made]
    with home.serving() as server:
        for tenant in tenants[:subscribed]:
            url = receivers.url(f"/200?company={tenant.company}")
            body = {"name": "orders", "url": url, "events": ["sales_order.created"], "secret": "s" * 32}
            status, answer = server.send("POST", "/api/webhooks", body, tenant.token, tenant.company)
            assert status == 201, answer
        assert server.stop() == 0
    return Site(home, tenants, subscribed, receivers)


class Beside(Thread):
    """Work that runs on a thread next to the test. `stop` waits for the request or command that is running."""

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True
        self.join()


@dataclass(eq=False)
class Churn(Beside):
    """Clients that each send one request after another, to companies chosen at random, until the server stops.

    `asked` has the requests of all clients. The `place` of a request is the index of its company in `tenants`.
    """

    port: int
    tenants: Sequence[Tenant]
    label: str
    clients: int
    asked: list[Asked] = field(default_factory=list)

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        await asyncio.gather(*(self._work(client) for client in range(self.clients)))

    async def _work(self, client: int) -> None:
        chance = Random(f"{self.label}-{client}")
        with suppress(OSError):
            connection = await Caller(self.port, "").connect()
            while not self._is_stopped:
                asked = self._next(chance, f"{self.label}-{client}-{len(self.asked)}")
                if not await _is_answered(connection, asked):
                    break
            await connection.close()

    def _next(self, chance: Random, name: str) -> Asked:
        place = chance.randrange(len(self.tenants))
        caller = Caller(self.port, self.tenants[place].token, self.tenants[place].company)
        form = chance.choice(("key", "key", V1, V2, *READS, LIST_OF_ORDERS))
        due, body = time.monotonic(), order(*LINES, notes=name)
        match form:
            case "key":
                asked = Asked(place, form, name, caller.post(V2, body, f"key-{name}"), due, has_key=True)
            case "/api/sales-orders" | "/api/v2/sales-orders":
                asked = Asked(place, form, name, caller.post(form, body), due)
            case path:
                asked = Asked(place, path, "", caller.request("GET", path, None), due)
        self.asked.append(asked)
        return asked


async def _is_answered(connection: Connection, asked: Asked) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            asked.take(await connection.ask(asked.request))
    except TimeoutError:
        return False
    except (OSError, EOFError) as error:
        asked.told, asked.answer = Told.UNKNOWN, type(error).__name__
        return False
    finally:
        asked.ended = time.monotonic()
    return True


@dataclass(eq=False)
class Imports(Beside):
    """Commands that write into companies' files while the server is running, one after another."""

    home: Home
    codes: Sequence[str]
    label: str
    imported: set[tuple[str, str]] = field(default_factory=set)
    """The codes of the company and of the article, for each import that succeeded."""
    refused: set[tuple[str, str]] = field(default_factory=set)
    """The same codes for each import that was refused because the server stopped before it had released the
    company's file.
    """
    broken: list[str] = field(default_factory=list)

    def run(self) -> None:
        chance = Random(self.label)
        for number in count():
            if self._is_stopped:
                break
            company, article = chance.choice(self.codes), f"{self.label}-{number}"
            text = f"code,name\n{article},New\n"
            done = self.home.run("import", "articles", "-", "--company", company, stdin=text)
            if not done.code:
                self.imported.add((company, article))
            elif any(NOT_LENT in sentence for sentence in done.wrong):
                self.refused.add((company, article))
            else:
                self.broken.append(f"The import into {company} failed: {done.err}")


@dataclass(frozen=True)
class Held:
    """The resources of a process: threads, open descriptors of companies' files, and resident
    memory in megabytes.
    """

    threads: int
    company_files: int
    megabytes: float


def held_by(server: Server) -> Held:
    process = Path(f"/proc/{server.process.pid}")
    files = 0
    for link in (process / "fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor was closed meanwhile
            files += link.readlink().parent.name == "companies"
    pages = int((process / "statm").read_text().split()[1])
    return Held(len([*(process / "task").iterdir()]), files, pages * 4096 / 1e6)
