"""A whole installation for a test: real files, real HTTP on loopback, and a controlled clock.

`world.call(…)` is the scenario helper: a request, the status that it must have, and exactly the events that it
must cause, in order. Every answer is also checked against the served OpenAPI description.
"""

import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from aiohttp import web
from argon2 import PasswordHasher

from tests.support.contract import Contract
from tests.support.raw_http import Caller
from tests.support.steering import CountedIds, SteeredClock
from wmsd.contract.access import EVERYTHING, MODULES, Role
from wmsd.contract.bulk_imports import Outcome
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Parameters, Transaction
from wmsd.events.webhooks.sending.sender import Sender
from wmsd.imports.file_kinds import KINDS, import_csv
from wmsd.installation.open_installation import Installation, open_installation
from wmsd.interfaces.cli.kit.commands_page import COMMANDS
from wmsd.interfaces.http.connections import Bounds
from wmsd.interfaces.http.listener import open_listener
from wmsd.interfaces.service import service
from wmsd.platform.admin_view.service import Started
from wmsd.server.jobs import Jobs
from wmsd.settings.all_settings import Settings
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import kernel_tokens
from wmsd.tenants.accounts.passwords import Passwords
from wmsd.tenants.accounts.schema import NewUser
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies.schema import NewCompany, NewOperator
from wmsd.tenants.sites import actions as sites
from wmsd.tenants.sites.schema import NewSite

KERNEL = "/api/kernel/v1/"
ETSM = "/api/integrations/etsm"
PASSWORD = "correct horse battery"
QUICK_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
UNLIMITED: dict[str, Any] = {
    "limits": dict.fromkeys(
        ("data_per_minute", "refused_per_minute", "graphql_per_minute", "open_per_minute"), 10**9
    )
}


@dataclass
class Answer:
    status: int
    headers: Any
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else None

    @property
    def id(self) -> int:
        return int(self.body["id"])

    @property
    def errors(self) -> Any:
        return self.body.get("errors", {})


@dataclass
class World:
    installation: Installation
    jobs: Jobs
    clock: SteeredClock
    base_url: str
    session: aiohttp.ClientSession
    contract: Contract
    app: web.Application
    company: int = 0
    token: str = ""
    kernel_token: str = ""
    filled: "Fill | None" = None
    """The function that had filled ACME before this world was opened."""

    async def fill(self, fill: "Fill") -> None:
        """Fill ACME, if it is not filled by the same function already."""
        if self.filled is not fill:
            await fill(self)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        status: int = 200,
        events: Sequence[str] = (),
        raw: bytes | None = None,
        token: str | None = None,
        company: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a request and check its status and events.

        `token=""` and `company=""` leave the header out. The default is the token and the company of the world.
        """
        before = await self.last_event()
        answer = await self.send(method, path, body, raw=raw, token=token, company=company, headers=headers)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.raw.decode()}"
        happened = await self.events_after(before)
        assert [name for name, _ in happened] == list(events), f"{method} {path}"
        if method != "HEAD":
            self.contract.check(method, path.partition("?")[0], status, answer.headers, answer.body, happened)
        return answer

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        token: str | None = None,
        company: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a request without checking the answer."""
        sent = {"Content-Type": "application/json"} if body is not None or raw is not None else {}
        if bearer := (self._token_for(path) if token is None else token):
            sent["Authorization"] = f"Bearer {bearer}"
        if in_company := (self.company if company is None else company):
            sent["X-Company-Id"] = str(in_company)
        content = raw if raw is not None else None if body is None else json.dumps(body).encode()
        data = None if content is None else io.BytesIO(content)
        url = f"{self.base_url}{path}"
        async with self.session.request(
            method, url, data=data, headers={**sent, **(headers or {})}, allow_redirects=False
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    def _token_for(self, path: str) -> str:
        return self.kernel_token if path.startswith(KERNEL) else self.token

    @property
    def sender(self) -> Sender:
        return self.jobs.sender

    @property
    def caller(self) -> Caller:
        """The client for raw HTTP requests, with the token and the company of this world."""
        return Caller(int(self.base_url.rpartition(":")[2]), self.token, self.company)

    async def database(self, company: int | None = None) -> Database:
        return await self.installation.files.get(company or self.company)

    @property
    def opened(self) -> list[int]:
        """The companies whose files are open."""
        return sorted(int(each.path.stem) for each in self.installation.files.databases if each.is_open)

    async def last_change(self) -> int:
        """Return the last position in the company's change sequence, in microseconds."""
        return await (await self.database()).read(lambda tx: tx.last_change())

    async def last_event(self) -> int:
        if not self.company or self.company in self.installation.files.failed:
            return 0
        database = await self.database()
        last: int = await database.read(lambda tx: tx.value("SELECT coalesce(max(sequence), 0) FROM events"))
        return last

    async def events_after(self, sequence: int) -> list[tuple[str, Any]]:
        """Return the name and the data of the company's events after that sequence number, in order."""
        if not self.company or self.company in self.installation.files.failed:
            return []
        database = await self.database()
        rows = await database.read(
            lambda tx: tx.rows("SELECT event, data FROM events WHERE sequence > ? ORDER BY sequence", (sequence,))
        )
        return [(event, json.loads(data)) for event, data in rows]

    async def new_operator(self, code: str, sandbox: bool = False) -> int:
        new = NewOperator(code=code, name=code, sandbox=sandbox)
        return await self.installation.platform.write(lambda tx: companies.create_operator(tx, new))

    async def new_company(
        self, code: str, modules: Sequence[str] = tuple(MODULES), operator: str | None = None
    ) -> int:
        new = NewCompany(code=code, name=f"Company {code}", operator_code=operator, modules=list(modules))
        return await self.installation.platform.write(
            lambda tx: companies.create_company(tx, new, self.installation.files.create)
        )

    async def set_module(self, code: str, module: str, enabled: bool) -> None:
        await self.installation.platform.write(lambda tx: companies.set_module(tx, code, module, enabled))

    async def new_user(
        self, email: str, role: Role, codes: Sequence[str] = (), abilities: Sequence[str] = ()
    ) -> int:
        new = NewUser(email=email, name=email, role=role, company_codes=list(codes), abilities=list(abilities))
        password_hash = await self.installation.passwords.hash(PASSWORD)
        return await self.installation.platform.write(lambda tx: accounts.create_user(tx, new, password_hash))

    async def new_token(
        self,
        email: str,
        abilities: Sequence[str] = (EVERYTHING,),
        codes: Sequence[str] = (),
        lifetime: timedelta = timedelta(days=90),
    ) -> str:
        return await self.installation.platform.write(
            lambda tx: accounts.create_token(
                tx, email=email, name="test", abilities=abilities, company_codes=codes, lifetime=lifetime
            )
        )

    async def open_kernel(self) -> None:
        """Create a platform token, which requests to the kernel interface use by default from here on."""
        self.kernel_token = (await self.installation.platform.write(kernel_tokens.create)).token

    async def import_csv(self, kind: str, text: str) -> Outcome:
        database = await self.database()
        lines = io.StringIO(text, newline="")
        return await database.write(partial(import_csv, kind=KINDS[kind], lines=lines))

    async def rows(self, sql: str, parameters: Parameters = ()) -> list[Any]:
        """Return rows of the company's file."""

        def read(tx: Transaction) -> list[Any]:
            return tx.rows(sql, parameters)

        return await (await self.database()).read(read)


def all_rows(tx: Transaction) -> dict[str, list[Any]]:
    """Return the rows by table. Leave out the table `log`, whose row also changes without a request: it names the
    write-ahead log of the file.
    """
    tables = tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'log'")
    return {name: tx.rows(f"SELECT * FROM {name}") for (name,) in tables}


@dataclass(frozen=True)
class Beginning:
    """The start state of each new world, created once per process.

    Creating a world takes longer than most tests.
    """

    files: dict[str, bytes]
    """The files by their paths in the data folder."""
    ids: int
    """The number of ids that were used."""
    company: int
    token: str
    contract: Contract

    def lay_down(self, data: DataFolder) -> None:
        data.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        data.companies.mkdir()
        for name, content in self.files.items():
            file = data.path / name
            file.touch(mode=0o600)
            file.write_bytes(content)


Fill = Callable[[World], Awaitable[object]]
_beginnings: dict[Fill | None, Beginning] = {}


async def _beginning(fill: Fill | None = None) -> Beginning:
    if fill not in _beginnings:
        empty = None if fill is None else await _beginning()
        with TemporaryDirectory() as folder:
            data = DataFolder(Path(folder))
            _beginnings[fill] = await (
                _begin(data) if fill is None or empty is None else _go_on(data, empty, fill)
            )
    return _beginnings[fill]


async def _begin(data: DataFolder) -> Beginning:
    data.make()
    ids = CountedIds()
    async with _opened(data, {}, ids, Contract()) as world:
        company = await world.new_company("ACME")
        await world.new_user("admin@example.com", "platform-admin")
        token = await world.new_token("admin@example.com")
    files, begun = _files_of(data), ids.count
    async with _opened(data, {}, ids, Contract(), company, token) as world:
        contract = Contract(*await _served_descriptions(world))
    return Beginning(files, begun, company, token, contract)


async def _go_on(data: DataFolder, empty: Beginning, fill: Fill) -> Beginning:
    empty.lay_down(data)
    ids = CountedIds(empty.ids)
    async with _opened(data, UNLIMITED, ids, empty.contract, empty.company, empty.token) as world:
        await fill(world)
    return replace(empty, files=_files_of(data), ids=ids.count)


def _files_of(data: DataFolder) -> dict[str, bytes]:
    return {str(file.relative_to(data.path)): file.read_bytes() for file in data.path.rglob("*") if file.is_file()}


async def _served_descriptions(world: World) -> list[Any]:
    """Return all served descriptions. Those of the kernel and of a site are returned only to their tokens."""
    await world.open_kernel()
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    new = NewSite(name="MAIN")
    _, of_site = await world.installation.platform.write(lambda tx: sites.create_site(tx, "ACME", 1, "MAIN", new))
    return [
        (await world.send("GET", "/openapi.json")).body,
        (await world.send("GET", "/api/v2/openapi.json")).body,
        (await world.send("GET", f"{KERNEL}openapi.json")).body,
        (await world.send("GET", f"{ETSM}/openapi.json", token=of_site, company="")).body,
    ]


@asynccontextmanager
async def open_world(
    folder: Path,
    settings: dict[str, Any] | None = None,
    hasher: PasswordHasher = QUICK_HASHER,
    started: Callable[[Installation], Started] | None = None,
    alone: bool = False,
    fill: Fill | None = None,
) -> AsyncIterator[World]:
    """Open an installation. A new one has one company, ACME, and an admin's token for ACME.

    `started` returns the work that a server does besides requests, such as scheduled backups. If `alone` is true,
    no other process may open the files of companies, as in a real server. `fill` fills ACME of a new installation.
    It runs once in each process, and later worlds start with a copy.
    """
    data, beginning = DataFolder(folder), await _beginning(fill)
    if data.is_made:
        opening = _opened(
            data, settings or {}, CountedIds(), beginning.contract, hasher=hasher, started=started, alone=alone
        )
    else:
        beginning.lay_down(data)
        ids = CountedIds(beginning.ids)
        made = beginning.company, beginning.token
        opening = _opened(
            data, settings or {}, ids, beginning.contract, *made, hasher=hasher, started=started, alone=alone
        )
    async with opening as world:
        world.filled = fill
        yield world


@asynccontextmanager
async def _opened(
    data: DataFolder,
    settings: dict[str, Any],
    ids: CountedIds,
    contract: Contract,
    company: int = 0,
    token: str = "",
    hasher: PasswordHasher = QUICK_HASHER,
    started: Callable[[Installation], Started] | None = None,
    alone: bool = False,
) -> AsyncIterator[World]:
    data.open()
    clock = SteeredClock()
    chosen = Settings.model_validate(settings)
    async with open_installation(
        chosen, data, clock=clock, ids=ids, passwords=Passwords(clock, hasher), alone=alone
    ) as installation:
        app, jobs = service(installation, COMMANDS, Started() if started is None else started(installation))
        plain = aiohttp.ClientSession(auto_decompress=False, skip_auto_headers=["Accept-Encoding"])
        async with _served(app) as base_url, plain as session:
            try:
                yield World(installation, jobs, clock, base_url, session, contract, app, company, token)
            finally:
                if jobs.imports is not None:
                    await jobs.imports.stop()  # stop the commands that it has started


@asynccontextmanager
async def _served(app: web.Application) -> AsyncIterator[str]:
    """Serve the application on a free loopback port and yield its address."""
    async with open_listener(app, "127.0.0.1", 0, bounds=Bounds(), grace_seconds=1) as (_, port):
        yield f"http://127.0.0.1:{port}"
