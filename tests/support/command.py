"""`wmsd` as a person runs it: a process of its own, in a folder of its own, with a clean environment."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-P", "-c", "from wmsd.interfaces.cli.main import main; main()")
EMAIL = "admin@example.com"
PASSWORD = "correct horse battery"
LONGEST = 60.0
WITHIN_A_SECOND = 1.5
"""A second, and what a busy machine adds to it."""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def wrong(self) -> list[str]:
        """What the program says went wrong, line by line."""
        return [line.removeprefix("wmsd: ") for line in self.err.splitlines() if line.startswith("wmsd: ")]


@dataclass
class Server:
    address: str
    process: subprocess.Popen[str]
    log_file: Path
    greeting: list[str]
    token: str = ""

    def get(self, path: str, token: str | None = None, company: int | None = 1) -> tuple[int, Any]:
        """Status and body; the token is the server's own unless another is given."""
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        if company is not None:
            headers["X-Company-Id"] = str(company)
        request = urllib.request.Request(self.address + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=LONGEST) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def soon(self, path: str, holds: Callable[[int, Any], bool], **options: Any) -> None:
        """Fails unless the answer is what it must be within a second."""
        until = time.monotonic() + WITHIN_A_SECOND
        while not holds(*(answer := self.get(path, **options))):
            assert time.monotonic() < until, answer
            time.sleep(0.05)

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(LONGEST)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LONGEST)


@dataclass
class Home:
    """A folder to run commands in. Its data folder is `data`, unless a command says otherwise."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        ended = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            cwd=self.folder,
            env=self.clean(env),
            input=given,
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
        return Done(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def ok(self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Done:
        """A command that must work, and say which data folder it acts on."""
        done = self.run(*arguments, stdin=stdin, env=env)
        assert done.code == 0, done.err
        assert f"Data folder: {self.data.resolve()}\n" in done.err
        return done

    def refusals(
        self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
    ) -> list[str]:
        """The sentences of a command that must fail: exit code 1, nothing on standard output, no trace."""
        done = self.run(*arguments, stdin=stdin, env=env)
        assert done.code == 1, done
        assert done.out == ""
        assert "Traceback" not in done.err, done.err
        unmarked = [line for line in done.err.splitlines() if not line.startswith(("wmsd: ", "Data folder: "))]
        assert unmarked == []
        return done.wrong

    def refused(
        self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
    ) -> str:
        """The one sentence of a command that must fail."""
        (sentence,) = self.refusals(*arguments, stdin=stdin, env=env)
        return sentence

    def misunderstood(self, *arguments: str | Path) -> str:
        """What a command that cannot be understood says: exit code 2, nothing on standard output."""
        done = self.run(*arguments)
        assert (done.code, done.out) == (2, ""), done
        return done.err.splitlines()[-1]

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def clean(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Nothing of the environment that the tests run in, but where the programs are."""
        fixed = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        return {**fixed, **self.environment, **(env or {})}

    @contextmanager
    def serving(self, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Server]:
        """A real server on a free port of loopback, stopped at the end if it still runs."""
        log_file = self.folder / "serve.log"
        with log_file.open("wb") as log:
            process = subprocess.Popen(
                [*PROGRAM, "serve", "--listen", "127.0.0.1:0", *arguments],
                cwd=self.folder,
                env=self.clean(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        with process:
            hung = threading.Timer(LONGEST, process.kill)
            hung.start()
            try:
                greeting = list(_greeting(process))
                hung.cancel()
                assert greeting, log_file.read_text(encoding="utf-8")
                address = greeting[0].removeprefix("wmsd serves ")
                token = (self.folder / "token").read_text() if (self.folder / "token").exists() else ""
                yield Server(address, process, log_file, greeting, token)
            finally:
                hung.cancel()
                if process.poll() is None:
                    process.terminate()


def _greeting(process: subprocess.Popen[str]) -> Iterator[str]:
    """The lines on standard output, up to the one that follows when everything is up."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line.rstrip("\n")
        if line.startswith("Guide:"):
            return


def first_day(folder: Path) -> Home:
    """A home with the company ACME, an admin, and the admin's token in the file `token`."""
    home = Home(folder)
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    home.ok("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    token = home.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip()
    home.write("token", token)
    return home


def hashes(folder: Path) -> dict[str, str]:
    """Every file in a folder and what it holds; without the lock, which says who has the folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "server.lock"
    }
