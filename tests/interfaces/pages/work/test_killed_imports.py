"""The server is killed or stopped during an import on the pages: the file is imported completely, or not at
all.
"""

import re
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import EMAIL, PASSWORD, Home, Server, first_day
from tests.support.forked import LONGEST, Program

ROWS = 20_000
BOUNDARY = "b0undary"

pytestmark = pytest.mark.long


class Office:
    """A user in the browser of a real server, without JavaScript."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.send("/sign-in", {"email": EMAIL, "password": PASSWORD})

    def get(self, path: str) -> tuple[str, str]:
        """Return the final address and the page."""
        return self._open(urllib.request.Request(self.server.address + path))

    def send(self, path: str, fields: dict[str, str]) -> tuple[str, str]:
        return self._post(path, urllib.parse.urlencode(fields).encode(), "application/x-www-form-urlencoded")

    def upload(self, kind: str, content: str) -> str:
        """Return the address of the upload."""
        parts = {"form_token": self.token("/companies/1/imports/new"), "kind": kind}
        form = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in parts.items()
        )
        form += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="list.csv"\r\n\r\n'
        body = f"{form}{content}\r\n--{BOUNDARY}--\r\n".encode()
        return self._post("/companies/1/imports/new", body, f"multipart/form-data; boundary={BOUNDARY}")[0]

    def token(self, path: str) -> str:
        found = re.search(r'name="form_token" value="(\w+)"', self.get(path)[1])
        assert found
        return found[1]

    def settled(self, path: str) -> tuple[str, str]:
        until = time.monotonic() + LONGEST
        while True:
            found = self.get(path)
            if 'http-equiv="refresh"' not in found[1]:
                return found
            assert time.monotonic() < until, found
            time.sleep(0.1)

    def _post(self, path: str, body: bytes, kind: str) -> tuple[str, str]:
        headers = {"Content-Type": kind, "Sec-Fetch-Site": "same-origin"}
        return self._open(urllib.request.Request(self.server.address + path, body, headers))

    def _open(self, request: Any) -> tuple[str, str]:
        with self._opener.open(request, timeout=LONGEST) as answer:
            return answer.url.removeprefix(self.server.address), answer.read().decode()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    program = Program(tmp_path)
    made = Home(program, tmp_path)
    try:
        first_day(made)
        yield made
    finally:
        program.end()


def count(home: Home) -> int:
    return len(home.ok("export", "articles", "--company", "ACME").out.splitlines()) - 1


@pytest.mark.parametrize(
    ("how", "seconds"), [pytest.param("kill", 0.3, marks=pytest.mark.thorough), ("kill", 1.0), ("stop", 0.6)]
)
def test_a_file_is_in_whole_or_not_at_all(home: Home, how: str, seconds: float) -> None:
    content = "code,name\n" + "".join(f"A{n},Article {n}\n" for n in range(ROWS))
    with home.serving() as server:
        office = Office(server)
        path = office.upload("articles", content)
        assert "would be created" in office.settled(path)[1]
        office.send(f"{path}/confirm", {"form_token": office.token(path)})
        time.sleep(seconds)
        if how == "kill":
            server.kill()
        else:
            server.stop()
    with home.serving() as server:
        address, page = Office(server).settled(path)
        found = count(home)
        if address.startswith("/companies/1/imports/uploads/"):
            assert "Nothing was changed" in page
            assert found == 0
        else:
            assert address == "/companies/1/imports/1?done=new"
            assert found == ROWS
    home.ok("doctor")
