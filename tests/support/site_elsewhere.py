"""An installation that no command finds automatically: every suggested command has to name its folder."""

import http.cookiejar
import re
import shlex
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from tests.support.command import EMAIL, PASSWORD, Home, Server
from tests.support.forked import LONGEST, Done

NAMED = re.compile(
    r"`?wmsd (?P<typed>[^`]*?)(?:`|$|(?=[.:;,]? (?:restores|shows|lists|replaces|creates|lets|deletes)\b))"
)
SETTINGS = '[server]\nlisten = "127.0.0.1:0"\n[backup]\nfolder = "kept"\n'


class Site:
    """An installation whose data folder and configuration are not the default ones.

    In `elsewhere` an admin runs the suggested commands.
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
        """The options in the form in which a suggested command has them."""
        return f"--data {shlex.quote(str(self.data))} --config {self.config}"

    def run(self, *command: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
        return self.home.run(*command, *self.given, stdin=stdin, env=env)

    def made(self) -> "Site":
        assert self.run("company", "create", "ACME", "--name", "Acme", "--init").code == 0
        return self

    def typed(self, done: Done, beginning: str) -> tuple[str, Done]:
        """Run the suggested command that starts with `beginning` in another folder, exactly as printed.

        Return the command and its result.
        """
        text = done.err + done.out
        lines = [found["typed"] for line in text.splitlines() for found in NAMED.finditer(line)]
        [line] = dict.fromkeys(each for each in lines if each.startswith(beginning))
        words = shlex.split(line.rstrip("."))
        return line, self.elsewhere.run(*words, stdin="y\n")

    def admin(self) -> None:
        """Create a platform admin with a password."""
        user = ("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin")
        done = self.run(*user, stdin=f"{PASSWORD}\n")
        assert done.code == 0, done.err


class Reader:
    """A person who uses a browser on a real server. `languages` is the Accept-Language header of the browser."""

    def __init__(self, server: Server, languages: str = "en") -> None:
        self._address = server.address
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._opener.addheaders = [("Accept-Language", languages)]

    def read(self, path: str) -> str:
        with self._opener.open(self._address + path, timeout=LONGEST) as answer:
            return str(answer.read().decode())

    def sign_in(self) -> "Reader":
        sent = urlencode({"email": EMAIL, "password": PASSWORD, "next": ""}).encode()
        request = urllib.request.Request(f"{self._address}/sign-in", sent, {"Sec-Fetch-Site": "same-origin"})
        with self._opener.open(request, timeout=LONGEST) as answer:
            assert "/sign-in" not in answer.url, answer.url
        return self
