"""The one-file executable as a person runs it: with an empty folder, an empty environment, and nothing else of
wmsd.
"""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

BUILT = Path(__file__).parents[2] / "dist" / "wmsd"
NAMED = os.environ.get("WMSD_EXECUTABLE")
EXECUTABLE = Path(NAMED).resolve() if NAMED else BUILT
IS_THERE = bool(NAMED) or BUILT.exists()
LONGEST = 60.0
NOTHING: Mapping[str, str] = MappingProxyType({})
WITHIN_A_SECOND = 1.5
"""One second, plus what a busy machine adds to it."""


@dataclass(frozen=True)
class Answer:
    status: int
    type: str
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def fetch(url: str, token: str = "", company_id: int = 0, form: dict[str, str] | None = None) -> Answer:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"X-Company-Id": str(company_id)} if company_id else {}
    sent = urllib.parse.urlencode(form).encode() if form is not None else None
    headers |= {"Sec-Fetch-Site": "same-origin"} if form is not None else {}
    request = urllib.request.Request(url, data=sent, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=LONGEST) as response:
            return Answer(response.status, response.headers.get_content_type(), response.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers.get_content_type(), error.read().decode())


def post(server: "Server", path: str, body: dict[str, Any]) -> Answer:
    """Send a POST request with the demo's token."""
    headers = {
        "Authorization": f"Bearer {server.token}",
        "X-Company-Id": str(server.demo_id),
        "Content-Type": "application/json",
    }
    request = urllib.request.Request(server.address + path, json.dumps(body).encode(), headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=LONGEST) as answer:
        return Answer(answer.status, answer.headers.get_content_type(), answer.read().decode())


def eventually(found: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found():
            return True
        time.sleep(0.05)
    return found()


def wmsd(
    folder: Path, *arguments: str, stdin: str = "", executable: Path = EXECUTABLE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [executable, *arguments],
        cwd=folder,
        env={},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=LONGEST,
        check=False,
    )


def done(folder: Path, *arguments: str, stdin: str = "", executable: Path = EXECUTABLE) -> str:
    """Run a command that must succeed, and return its standard output."""
    ended = wmsd(folder, *arguments, stdin=stdin, executable=executable)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@dataclass(frozen=True)
class Server:
    """A running `wmsd serve`.

    The process unpacks the program and waits for a child process, which is the server.
    """

    folder: Path
    process: subprocess.Popen[bytes]
    printed: str

    @property
    def address(self) -> str:
        return self.shown(r"^wmsd serves (https?://127\.0\.0\.1:\d+)$")

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def token(self) -> str:
        return self.shown(r"^Token: +(\S+)$")

    @property
    def first_admin(self) -> str:
        return self.shown(r"^First admin: +(http\S+)")

    @property
    def demo_id(self) -> int:
        return int(self.shown(r"^Demo company: .+, id (\d+)$"))

    def shown(self, pattern: str) -> str:
        found = re.search(pattern, self.printed, re.MULTILINE)
        assert found, f"{pattern} is not in what it printed:\n{self.printed}"
        return found[1]

    def get(self, path: str, token: str = "", company_id: int = 0) -> Answer:
        return fetch(self.address + path, token, company_id)

    @property
    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    @property
    def unpacked(self) -> set[Path]:
        """The temporary folders from which the program runs."""
        maps = "\n".join(Path(f"/proc/{child}/maps").read_text() for child in self.children)
        return {Path(place) for place in re.findall(r" (/\S*/_MEI[^/\s]+)/", maps)}


@contextmanager
def serving(
    folder: Path, *arguments: str, executable: Path = EXECUTABLE, environment: Mapping[str, str] = NOTHING
) -> Iterator[Server]:
    """Run the server on a free port of 127.0.0.1 in a separate process group, and stop the whole
    group at the end.
    """
    out, log = folder / "printed", folder / "log"
    with out.open("wb") as stdout, log.open("wb") as stderr:
        process = subprocess.Popen(
            [executable, "serve", "--create", "--listen", "127.0.0.1:0", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        eventually(lambda: b" serving http" in log.read_bytes() or process.poll() is not None, LONGEST)
        assert process.poll() is None, log.read_text()
        yield Server(folder, process, out.read_text())
    finally:
        process.terminate()
        try:
            process.wait(LONGEST)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
