"""Each kind of reply, stopped half-way by a client of a real server, and each way in which the reply can fail
there.

After the head of a reply, no other reply comes in its bytes. No client takes a part for the whole, and the server
continues to work.
"""

import http.client
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest

import wmsd
from tests.support.command import EMAIL, Home, Server, first_day
from tests.support.forked import LONGEST, Program
from tests.support.held_answers import Came, HeldAnswer, connected
from wmsd.base import timestamps
from wmsd.db.engine.sqlite import sqlite3
from wmsd.dispatch.limits.work_admission import BOUNDS
from wmsd.imports.uploads import About, Uploads
from wmsd.interfaces.pages.kit.browser import cookie_name
from wmsd.settings.sections.sessions import Sessions
from wmsd.tenants.keys.bearers import secret_hash

pytestmark = pytest.mark.long
ROWS = 6000
LONG = "x" * 200
HEALTH = b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n"
PEOPLE = (1, 2, 3)
"""The people who request the replies. Each may have one download at a time."""
OTHERS = (4, 5, 6, 7)
A_WHILE = 0.7
"""The seconds without a byte after which the test takes a reply as going on."""
PATIENCE_SECONDS = 25.0
"""The seconds after which the server has disconnected a client that reads nothing."""


@dataclass(frozen=True)
class Asked:
    path: str
    person: int | None = None
    version: str = "1.1"
    body: object = None
    """A body to send with a token."""


BATCH = {"requests": [{"method": "GET", "path": "/api/v2/articles?per_page=100"}] * 5}
ANSWERS = {
    "list": Asked("/companies/1/articles.csv", 1),
    "list by HTTP/1.0": Asked("/companies/1/articles.csv?format=import", 2, "1.0"),
    "list of the installation": Asked("/admin/audit.csv", 3),
    "events": Asked("/live", 1),
    "errors of an import": Asked("/companies/1/imports/uploads/{upload}/errors.csv", 1),
    "batch": Asked("/api/v2/batch", body=BATCH),
}
STREAMED = {"downloads.py": "list", "pieces.py": "list", "live.py": "events"}
"""The modules that send replies in pieces. All other replies are complete before their head is sent."""


@dataclass
class Scene:
    """A server, with each of its replies stopped half-way."""

    home: Home
    server: Server
    upload: str
    cookie: str
    held: dict[str, HeldAnswer] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(self.server.address.rpartition(":")[2])

    @property
    def file(self) -> Path:
        return self.home.data / "companies" / "1.db"

    def cookie_of(self, person: int) -> str:
        return f"{self.cookie}={secret_of(person)}"

    def request(self, asked: Asked) -> bytes:
        method, content = ("GET", b"") if asked.body is None else ("POST", json.dumps(asked.body).encode())
        lines = [f"{method} {asked.path.format(upload=self.upload)} HTTP/{asked.version}", "Host: x"]
        if asked.person is not None:
            lines.append(f"Cookie: {self.cookie_of(asked.person)}")
        if content:
            lines += [f"Authorization: Bearer {self.server.token}", "X-Company-Id: 1"]
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        return "\r\n".join([*lines, "", ""]).encode() + content

    def page(self, path: str, person: int, form: dict[str, str] | None = None) -> tuple[int, str]:
        headers = {"Cookie": self.cookie_of(person), "Sec-Fetch-Site": "same-origin"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST)) as connection:
            if form is None:
                connection.request("GET", path, headers=headers)
            else:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                connection.request("POST", path, urlencode(form), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def until_refused(self) -> None:
        """Wait until the server applies the change; a running server follows a command within a second."""
        until = time.monotonic() + LONGEST
        while self.page("/companies/1/articles", PEOPLE[0])[0] == 200:
            assert time.monotonic() < until
            time.sleep(0.1)


def secret_of(person: int) -> str:
    return f"secret-of-person-{person}-0000000000000000"


def email_of(person: int) -> str:
    return f"person{person}@example.com"


# --- the ways to fail ------------------------------------------------------------------------------------------


def signed_out(scene: Scene) -> None:
    for person in PEOPLE:
        token = re.search(r'name="form_token" value="(\w+)"', scene.page("/account", person)[1])
        assert token
        assert scene.page("/sign-out", person, {"form_token": token[1]})[0] == 303


def given_passwords(scene: Scene) -> None:
    for person in PEOPLE:
        scene.home.ok("user", "set-password", email_of(person), "--password-stdin", stdin="another battery\n")
    scene.until_refused()


def disabled(scene: Scene) -> None:
    for person in PEOPLE:
        scene.home.ok("user", "disable", email_of(person))
    scene.until_refused()


def made_members(scene: Scene) -> None:
    for person in PEOPLE:
        scene.home.ok("user", "change", email_of(person), "--role", "member")
    scene.until_refused()


def deleted(scene: Scene) -> None:
    scene.home.ok("company", "delete", "ACME", "--yes")
    scene.until_refused()


def suspended(scene: Scene) -> None:
    scene.home.ok("company", "suspend", "ACME")
    scene.until_refused()


def damaged(scene: Scene) -> None:
    with scene.file.open("r+b") as file:
        file.seek(100_000)
        file.write(os.urandom(scene.file.stat().st_size - 100_000))


def shortened(scene: Scene) -> None:
    os.truncate(scene.file, 100_000)


def stopping(scene: Scene) -> None:
    scene.server.process.terminate()


def killed(scene: Scene) -> None:
    scene.server.kill()


def nothing(scene: Scene) -> None:
    """Do nothing: the server itself ends the replies that no client reads."""


@dataclass(frozen=True)
class Way:
    does: Callable[[Scene], None]
    fates: str
    """The fate of each reply, in order: C (cut), W (whole), or G (goes on)."""
    company: int | None = 1
    """The id of a company that works afterwards, or None if the server has stopped."""
    taken_after: float = 0.0
    """The seconds for which the clients read nothing. Such a way starts before all others."""


WAYS = {
    "people sign out elsewhere": Way(signed_out, "CCCWWW"),
    "an admin sets their passwords": Way(given_passwords, "CCCWWW"),
    "their sessions are too old": Way(Scene.until_refused, "CCCGWW"),
    "they are disabled": Way(disabled, "CCCWWW"),
    "they lose their rights": Way(made_members, "CCCGWW"),
    "the company is deleted": Way(deleted, "CCWGWW", 2),
    "the company is suspended": Way(suspended, "CCWGWW", 2),
    "its file is damaged": Way(damaged, "CCWGWW", 2),
    "its file is shortened": Way(shortened, "CCWGWW", 2),
    "the server stops": Way(stopping, "WWWWWW", None),
    "the server is killed": Way(killed, "CCCCCC", None),
    "the server stops, and they take nothing": Way(stopping, "CCCWCC", None, 12.0),
    "they take nothing": Way(nothing, "CCCGCC", 1, PATIENCE_SECONDS),
}


# --- an installation for each way ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def template(program: Program, tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, str]:
    """Create companies with long lists, people who are signed in, and an upload with errors, whose id is
    returned.
    """
    home = first_day(Home(program, tmp_path_factory.mktemp("template")))
    home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    for code, number in (("ACME", ROWS), ("OTHER", 1)):
        rows = "".join(f"N{row:05},{LONG}\n" for row in range(number))
        home.ok("import", "articles", "-", "--company", code, stdin=f"code,name\n{rows}")
    upload = Uploads(home.data / "imports").make(1, About())
    upload.errors_file.write_text("row,column,cell,message\n" + f"1,code,{LONG},{LONG}\n" * 750)
    upload.write(About(kind="articles", state="looked"))
    now = timestamps.to_text(datetime.now(UTC))
    with platform_of(home) as platform:
        for person in (*PEOPLE, *OTHERS):
            copy(platform, "users", f"email = '{EMAIL}'", email=email_of(person))
            platform.execute(
                "INSERT INTO sessions (hash, user_id, made_at, seen_at, address, agent)"
                " SELECT ?, id, ?, ?, '127.0.0.1', '' FROM users WHERE email = ?",
                (secret_hash(secret_of(person)), now, now, email_of(person)),
            )
        for _ in range(ROWS):
            copy(platform, "audit", "id = 1", subject=LONG)
    return home, upload.id


@contextmanager
def platform_of(home: Home) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(home.data / "platform.db")) as platform, platform:
        yield platform


def copy(platform: sqlite3.Connection, table: str, where: str, **changed: str) -> None:
    names = [name for _, name, *_ in platform.execute(f"PRAGMA table_info({table})") if name != "id"]
    values = ", ".join(f"'{changed[name]}'" if name in changed else name for name in names)
    platform.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} WHERE {where}")


def age(home: Home) -> None:
    """Make the sessions end in two seconds."""
    made_at = datetime.now(UTC) - timedelta(days=Sessions().most_days) + timedelta(seconds=2)
    with platform_of(home) as platform:
        platform.execute(
            "UPDATE sessions SET made_at = ? WHERE user_id IN (SELECT id FROM users WHERE email < ?)",
            (timestamps.to_text(made_at), email_of(OTHERS[0])),
        )


@contextmanager
def half_way(template: tuple[Home, str], folder: Path, name: str) -> Iterator[Scene]:
    """Start a separate server, hold all its replies half-way, and start the failure."""
    home = Home(template[0].program, folder).begin_as(template[0])
    if WAYS[name].does is Scene.until_refused:
        age(home)
    with platform_of(home) as platform:
        (installation,) = platform.execute("SELECT id FROM installation").fetchone()
    with home.serving() as server, ExitStack() as stack:
        scene = Scene(home, server, template[1], cookie_name(installation))
        for answer, asked in ANSWERS.items():
            scene.held[answer] = stack.enter_context(connected(scene.port))
            scene.held[answer].begin(scene.request(asked))
        WAYS[name].does(scene)
        yield scene


@dataclass(frozen=True)
class Slow:
    scene: Scene
    until: float


@pytest.fixture(scope="module")
def slow(template: tuple[Home, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Slow]]:
    """Start all ways that take long at the same time."""
    with ExitStack() as stack:
        yield {
            name: Slow(
                stack.enter_context(half_way(template, tmp_path_factory.mktemp("slow"), name)),
                time.monotonic() + way.taken_after,
            )
            for name, way in WAYS.items()
            if way.taken_after
        }


@dataclass(frozen=True)
class Failed:
    scene: Scene
    way: Way
    came: dict[str, Came]

    def fate(self, answer: str) -> str:
        came = self.came[answer]
        return "W" if came.is_whole else "G" if came.end == "open" else "C"


@pytest.fixture(scope="module", params=WAYS)
def failed(
    request: pytest.FixtureRequest,
    template: tuple[Home, str],
    slow: dict[str, Slow],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Failed]:
    way = WAYS[request.param]
    with ExitStack() as stack:
        if request.param in slow:
            scene = slow[request.param].scene
            time.sleep(max(0.0, slow[request.param].until - time.monotonic()))
        else:
            scene = stack.enter_context(half_way(template, tmp_path_factory.mktemp("way"), request.param))
        came = {
            name: held.rest(A_WHILE if fate == "G" else LONGEST)
            for (name, held), fate in zip(scene.held.items(), way.fates, strict=True)
        }
        yield Failed(scene, way, came)


# --- the rules -------------------------------------------------------------------------------------------------


def test_every_module_that_sends_in_pieces_is_held_here() -> None:
    """Responses that aiohttp itself prepares, such as a `FileResponse`, would fail outside of wmsd's handler."""
    package = Path(wmsd.__file__).parent
    made = re.compile(r"\b(?:StreamResponse|FileResponse|WebSocketResponse|sse_response)\(")
    found = {path.name for path in package.rglob("*.py") if made.search(path.read_text(encoding="utf-8"))}
    assert found == set(STREAMED)
    assert set(STREAMED.values()) <= set(ANSWERS)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_whole_or_seen_to_be_cut(failed: Failed, answer: str) -> None:
    came = failed.came[answer]
    assert came.answers == 1, "no other answer comes inside of it"
    assert failed.fate(answer) == failed.way.fates[list(ANSWERS).index(answer)], (came.end, came.raw[-200:])
    if came.is_whole and came.end == "open":
        assert failed.scene.held[answer].ask_again(HEALTH).raw.startswith(b"HTTP/1.1 200 OK")


def test_the_server_goes_on_and_every_place_is_free(failed: Failed) -> None:
    assert "Traceback" not in failed.scene.server.log
    if failed.way.company is None:
        assert failed.scene.server.process.wait(LONGEST) is not None
        return
    lists = [f"/companies/{failed.way.company}/articles.csv", "/admin/audit.csv"] * 2
    assert len(lists) == BOUNDS["download"].at_once
    with ExitStack() as stack:
        for path, person in zip(lists, OTHERS, strict=True):
            held = stack.enter_context(connected(failed.scene.port))
            held.begin(failed.scene.request(Asked(path, person)))
            assert held.head.startswith(b"HTTP/1.1 200 OK")
