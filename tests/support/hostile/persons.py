"""The attacks of people of a hostile company on the pages, with as many sessions as they may have."""

import asyncio
import itertools
import json
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlencode

from tests.support.hostile.scene import PATIENCE, Scene, request
from wmsd.interfaces.pages.kit.browser import COOKIE, FORM_TOKEN, form_token

SESSIONS: Final = 20
"""The sessions of each person: the most that are allowed."""
STREAM_SECONDS: Final = 30
FORM: Final = "application/x-www-form-urlencoded"
BOUNDARY: Final = "a-hostile-form"
WRONG_ROWS: Final = b"code,name\n" + b"1\n" * 1_000_000
"""A file of 2 MB in which each row has an error."""


@dataclass(frozen=True)
class Account:
    """A user of one hostile company."""

    company: int
    email: str
    password: str


@dataclass
class Person:
    """A person who attacks. `sessions` has the address from which each session was started, and its cookie."""

    account: Account
    sessions: list[tuple[str, str]] = field(default_factory=list)
    _next: Iterator[int] = field(default_factory=itertools.count)

    def session(self) -> tuple[str, str]:
        """Return the address and the cookie of one session. The sessions take turns."""
        return self.sessions[next(self._next) % len(self.sessions)]

    @property
    def place(self) -> str:
        return f"/companies/{self.account.company}"


Act = Callable[[Scene, Person, Iterator[int]], Awaitable[None]]


async def sign_in(scene: Scene, person: Person) -> None:
    """Start as many sessions as a person may have, each from another address. A refused sign-in is tried again."""
    body = urlencode({"email": person.account.email, "password": person.account.password}).encode()
    headers = {"Content-Type": FORM, "Sec-Fetch-Site": "same-origin"}
    addresses = itertools.cycle(scene.addresses)
    while len(person.sessions) < SESSIONS and not scene.is_over:
        address = next(addresses)
        with suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(PATIENCE), scene.connected(address) as (reader, writer):
                writer.write(request("POST", "/sign-in", body, headers))
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                scene.answers["sign-in, pages", head[9:12]] += 1
                _, found, rest = head.partition(f"Set-Cookie: {COOKIE}")
                if found:
                    person.sessions.append((address, COOKIE + rest.partition(";")[0]))


def token_of_forms(cookie: str) -> str:
    return form_token(cookie.partition("=")[2])


async def _get(scene: Scene, person: Person, attack: str, path: str, is_read: bool = True) -> None:
    address, cookie = person.session()
    await scene.ask(attack, address, "GET", path, headers={"Cookie": cookie}, is_read=is_read)


async def _post(scene: Scene, person: Person, attack: str, path: str, fields: Mapping[str, str]) -> None:
    address, cookie = person.session()
    body = urlencode({**fields, FORM_TOKEN: token_of_forms(cookie)}).encode()
    headers = {"Cookie": cookie, "Content-Type": FORM, "Sec-Fetch-Site": "same-origin"}
    await scene.ask(attack, address, "POST", path, body, headers)


async def download(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    files = ("articles.csv", "articles.csv?format=import", "sales-orders.csv", "events.csv")
    await _get(scene, person, "downloads", f"{person.place}/{files[next(rounds) % len(files)]}")


async def download_unread(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    address, cookie = person.session()
    async with scene.connected(address) as (_, writer):
        writer.write(request("GET", f"{person.place}/articles.csv", headers={"Cookie": cookie}))
        await writer.drain()
        scene.answers["downloads, unread", "sent"] += 1
        await scene.pause(120)


async def look(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    """Open pages, and search in lists."""
    pages = ("articles?search=re+se", "articles?sort=-name&page=900", "sales-orders", "stock", "events", "1", "")
    await _get(scene, person, "pages", f"{person.place}/{pages[next(rounds) % len(pages)]}")


async def watch(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    """Read the stream of events for some time."""
    address, cookie = person.session()
    async with scene.connected(address) as (reader, writer):
        writer.write(request("GET", "/live", headers={"Cookie": cookie, "Accept": "text/event-stream"}))
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        scene.answers["streams", head[9:12].decode()] += 1
        await scene.pause(STREAM_SECONDS)


async def try_out(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    """Create orders of 600 lines with the form that tries out an operation."""
    lines = [{"article_code": "A0000001", "quantity": 1}] * 600
    order = {"partner_id": 1, "warehouse_id": 1, "notes": "n" * 2000, "lines": lines}
    fields = {"as": "me", "company": str(person.account.company), "body": json.dumps(order)}
    await _post(scene, person, "try-out", "/try/v2/create_sales_order", fields)


async def make_articles(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    """Create an article with the form of the page."""
    fields = {"code": f"P{random.randrange(10**12)}", "name": "n" * 200}
    await _post(scene, person, "forms", f"{person.place}/articles/new", fields)


async def import_wrong_rows(scene: Scene, person: Person, rounds: Iterator[int]) -> None:
    address, cookie = person.session()
    parts = [
        _part(FORM_TOKEN, token_of_forms(cookie).encode()),
        _part("kind", b"articles"),
        _part("file", WRONG_ROWS, "wrong.csv"),
        f"--{BOUNDARY}--\r\n".encode(),
    ]
    headers = {
        "Cookie": cookie,
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Sec-Fetch-Site": "same-origin",
    }
    await scene.ask("imports", address, "POST", f"{person.place}/imports/new", b"".join(parts), headers)


def _part(name: str, content: bytes, file: str = "") -> bytes:
    named = f'; filename="{file}"' if file else ""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
    return head.encode() + content + b"\r\n"


class Attack(NamedTuple):
    """An attack of a person. Each person starts `per_minute` attacks per minute, without waiting for answers."""

    run: Act
    per_minute: float


ATTACKS: Final[Mapping[str, Attack]] = {
    "downloads": Attack(download, 120),
    "downloads, unread": Attack(download_unread, 6),
    "pages": Attack(look, 200),
    "streams": Attack(watch, 120),
    "try-out": Attack(try_out, 60),
    "forms": Attack(make_articles, 120),
    "imports": Attack(import_wrong_rows, 2),
}


async def attack(scene: Scene, accounts: list[Account]) -> None:
    people = [Person(account) for account in accounts]
    await asyncio.gather(
        *(sign_in(scene, person) for person in people),
        *(_again(scene, person, attack) for person in people for attack in ATTACKS.values()),
    )


async def _again(scene: Scene, person: Person, attack: Attack) -> None:
    """Repeat the attack, as soon as the person has the first session."""
    rounds, running = itertools.count(), set[asyncio.Task[None]]()
    while not person.sessions and not scene.is_over:
        await scene.pause(0.1)
    while not scene.is_over:
        task = asyncio.create_task(_quietly(attack.run(scene, person, rounds)))
        running.add(task)
        task.add_done_callback(running.discard)
        await scene.pause(60.0 / attack.per_minute)
    for each in list(running):
        each.cancel()


async def _quietly(work: Awaitable[None]) -> None:
    with suppress(OSError, EOFError, TimeoutError):
        await work
