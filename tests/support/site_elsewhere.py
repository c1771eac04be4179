"""An installation that nothing finds by itself: every command about it has to say where it is."""

import http.cookiejar
import re
import shlex
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from tests.support.command import EMAIL, PASSWORD, Home, Server
from tests.support.forked import LONGEST, Done

NAMED = re.compile(
    r"`?wmsd (?P<typed>[^`]*?)(?:`|$|(?=[.:;,]? (?:brings|shows|lists|replaces|makes|lets|deletes)\b))"
)
SETTINGS = '[server]\nlisten = "127.0.0.1:0"\n[backup]\nfolder = "kept"\n'


class Site:
    """An installation whose data folder and configuration are not the default ones. `elsewhere` is where an admin
    types what was suggested.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.data = home.folder / "the site" / "stock data"
        self.config = home.folder / "conf" / "wmsd.toml"
        self.data.parent.mkdir()
        self.config.parent.mkdir()
        self.set("")
        self.elsewhere = Home(home.program, home.folder / "elsewhere")
        self.elsewhere.folder.mkdir()

    def set(self, more: str) -> None:
        self.home.write("conf/wmsd.toml", SETTINGS + more)

    @property
    def given(self) -> tuple[str, ...]:
        return ("--data", "the site/stock data", "--config", "conf/wmsd.toml")

    @property
    def options(self) -> str:
        """As a suggestion has them."""
        return f"--data {shlex.quote(str(self.data))} --config {self.config}"

    def run(self, *command: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
        return self.home.run(*command, *self.given, stdin=stdin, env=env)

    def made(self) -> "Site":
        assert self.run("company", "create", "ACME", "--name", "Acme", "--init").code == 0
        return self

    def typed(self, done: Done, beginning: str) -> tuple[str, Done]:
        """The suggestion that begins so, typed elsewhere as it stands."""
        text = done.err + done.out
        lines = [found["typed"] for line in text.splitlines() for found in NAMED.finditer(line)]
        [line] = dict.fromkeys(each for each in lines if each.startswith(beginning))
        words = shlex.split(line.rstrip("."))
        return line, self.elsewhere.run(*words, stdin="y\n")

    def admin(self) -> None:
        """Makes a site admin who has a password."""
        user = ("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin")
        done = self.run(*user, stdin=f"{PASSWORD}\n")
        assert done.code == 0, done.err


class Reader:
    """A person with a browser at a real server."""

    def __init__(self, server: Server) -> None:
        self._address = server.address
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies)

    def read(self, path: str) -> str:
        with self._opener.open(self._address + path, timeout=LONGEST) as answer:
            return str(answer.read().decode())

    def sign_in(self) -> "Reader":
        sent = urlencode({"email": EMAIL, "password": PASSWORD, "next": ""}).encode()
        request = urllib.request.Request(f"{self._address}/sign-in", sent, {"Sec-Fetch-Site": "same-origin"})
        with self._opener.open(request, timeout=LONGEST) as answer:
            assert "/sign-in" not in answer.url, answer.url
        return self
