"""`wmsd` as a person runs it: as a separate process, in a separate folder, with a clean environment."""

import contextlib
import csv
import hashlib
import io
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.forked import LONGEST, TELLS_WHERE, Done, Program
from wmsd.contract.csv_cells import unguarded
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

PROGRAM = (sys.executable, "-P", "-c", "from wmsd.interfaces.cli.main import main; main()")
EMAIL = "admin@example.com"
PASSWORD = "correct horse battery"
KINDS = (
    *("clients", "articles", "partners", "warehouses", "stock", "stock-count"),
    *("packaging-types", "packaging-movements"),
)
"""The kinds of import files, ordered so that the records of each kind refer only to kinds before it."""
NO_BACKUPS = {"WMSD_BACKUP_EVERY": "never"}
"""Settings under which no backup runs during a test that did not ask for one."""
ANY_PORT = {"WMSD_SERVER_LISTEN": "127.0.0.1:0"}
"""Settings under which the server uses a free port, so that other programs on this machine do not matter."""
WITHIN_A_SECOND = 1.5
"""One second, plus what a busy machine adds to it."""


@dataclass
class Server:
    address: str
    process: subprocess.Popen[str]
    log_file: Path
    greeting: list[str]
    token: str = ""

    def get(self, path: str, token: str | None = None, company: int | None = 1) -> tuple[int, Any]:
        """Return the status and the body. If `token` is None, send the token in `self.token`."""
        return self.send("GET", path, token=token, company=company)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        token: str | None = None,
        company: int | None = 1,
        key: str | None = None,
    ) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        if company is not None:
            headers["X-Company-Id"] = str(company)
        if key is not None:
            headers["Idempotency-Key"] = key
        data = None
        if body is not None:
            headers["Content-Type"], data = "application/json", json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LONGEST) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def soon(self, path: str, holds: Callable[[int, Any], bool], **options: Any) -> None:
        """Fail unless `holds`, called with the status and the body, is True within a second."""
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
    """A folder to run commands in. The data folder of the commands is `data`, unless a command says otherwise."""

    program: Program
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        return self.program.run([str(argument) for argument in arguments], self.folder, self.clean(env), given)

    def start(self, *arguments: str | Path, under: Sequence[str] = (), **options: Any) -> "subprocess.Popen[str]":
        """Run the command in a new Python process. `under` are the words before the program, such as strace's."""
        return subprocess.Popen(
            [*under, *PROGRAM, *map(str, arguments)],
            env=self.clean(options.pop("env", None)),
            text=True,
            **{
                "cwd": self.folder,
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **options,
            },
        )

    @contextmanager
    def paused(self, *arguments: str | Path) -> "Iterator[subprocess.Popen[str]]":
        """Start a process for the command that is paused until it gets a SIGCONT.

        The process writes its standard error to `paused.log`.
        """
        words, environment = [str(argument) for argument in arguments], self.clean(NO_BACKUPS)
        with (self.folder / "paused.log").open("wb") as log:
            process = self.program.start(words, self.folder, environment, log, is_paused=True)
        with process:
            try:
                while ") T " not in Path(f"/proc/{process.pid}/stat").read_text():
                    time.sleep(0.001)
                yield process
            finally:
                process.kill()

    def run_fresh(self, *arguments: str | Path, **options: Any) -> Done:
        with self.start(*arguments, **options) as process:
            try:
                out, err = process.communicate(timeout=LONGEST)
            finally:
                process.kill()
        return Done(process.returncode, out or "", err or "")

    def ok(self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Done:
        """Run a command that must succeed and must name the data folder that it works on.

        The doctor may have warnings, about the machine on which the tests run.
        """
        done = self.run(*arguments, stdin=stdin, env=env)
        assert done.code in ((0, ONLY_WARNINGS) if arguments[0] == "doctor" else (0,)), (done.err, done.out)
        assert f"Data folder: {self.data.resolve()}\n" in done.err
        return done

    def refusals(
        self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
    ) -> list[str]:
        """Return the error sentences of a command that must fail: exit code 1, nothing on standard output, no
        traceback.
        """
        done = self.run(*arguments, stdin=stdin, env=env)
        assert done.code == 1, done
        assert done.out == ""
        assert "Traceback" not in done.err, done.err
        marks = ("wmsd: ", "Data folder: ", "Read as ")
        unmarked = [line for line in done.err.splitlines() if not line.startswith(marks)]
        assert unmarked == []
        return done.wrong

    def refused(
        self, *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
    ) -> str:
        """Return the only error sentence of a command that must fail."""
        (sentence,) = self.refusals(*arguments, stdin=stdin, env=env)
        return sentence

    def misunderstood(self, *arguments: str | Path) -> str:
        """Return the usage error of a command that cannot be parsed: exit code 2, nothing on standard output."""
        done = self.run(*arguments)
        assert (done.code, done.out) == (2, ""), done
        return done.err[done.err.find("Error: ") :].rstrip("\n")

    def begin_as(self, other: "Home") -> "Home":
        """Copy the folder of another home that nothing uses. This is quicker than creating everything again."""
        shutil.copytree(other.folder, self.folder, symlinks=True, dirs_exist_ok=True)
        return self

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def clean(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment for a command. From the environment of the tests it has only PATH."""
        return {**self.program.environment, **self.environment, **(env or {})}

    @contextmanager
    def serving(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        limits: Callable[[], None] | None = None,
        under: Sequence[str] = (),
        last_line: str = "Guide:",
        is_fresh: bool = False,
    ) -> Iterator[Server]:
        """Run a real server on a free loopback port, and stop it at the end if it is still running.

        `limits` is called in the process before the program starts. `under` is as in `start`. `last_line` is the
        beginning of the last line that the server prints at its start. `is_fresh` asks for a new Python process
        instead of a fork.
        """
        log_file = self.folder / "serve.log"
        environment = self.clean({**NO_BACKUPS, **(env or {})})
        command = ("serve", "--create", "--listen", "127.0.0.1:0", *arguments)
        process: subprocess.Popen[str]
        with log_file.open("wb") as log:
            if limits or under or is_fresh or _for_start(environment) != _for_start(self.program.environment):
                process = self.start(*command, stderr=log, env=environment, preexec_fn=limits, under=under)
            else:
                process = self.program.start(command, self.folder, environment, log)
        with process:
            hung = threading.Timer(LONGEST, process.kill)
            hung.start()
            try:
                greeting = list(_greeting(process, last_line))
                hung.cancel()
                assert greeting, log_file.read_text(encoding="utf-8")
                address = greeting[0].removeprefix("wmsd serves ")
                token = (self.folder / "token").read_text() if (self.folder / "token").exists() else ""
                yield Server(address, process, log_file, greeting, token)
            finally:
                hung.cancel()
                if process.poll() is None:
                    process.terminate()
                    _end(process, log_file)


def _end(process: "subprocess.Popen[str]", log_file: Path) -> None:
    """Wait for a server that was told to stop. If it does not stop, fail and show where it is stuck."""
    try:
        process.wait(LONGEST)
    except subprocess.TimeoutExpired:
        process.send_signal(TELLS_WHERE)
        time.sleep(1)
        process.kill()
        raise AssertionError(f"The server does not stop.\n{log_file.read_text(encoding='utf-8')}") from None


def at_a_terminal(
    home: Home, *arguments: str | Path, answers: Sequence[str] = (), interrupt_after: str = ""
) -> Done:
    """Run a command with a terminal as its standard input and standard error. What the terminal shows is returned
    as `err`.

    Each answer is typed when a prompt waits for it. The command is interrupted, as by Ctrl-C, when the terminal
    shows `interrupt_after`.
    """
    terminal, far_end = pty.openpty()
    with home.start(*arguments, stdin=far_end, stderr=far_end) as process:
        os.close(far_end)
        hung = threading.Timer(LONGEST, process.kill)
        hung.start()
        shown = b""
        for answer in answers:
            while not shown.rstrip(b" ").endswith(b":"):
                shown += os.read(terminal, 1000)
            time.sleep(0.1)  # the prompt appears shortly before the terminal stops echoing
            os.write(terminal, f"{answer}\n".encode())
            shown += b"\n"
        with contextlib.suppress(OSError):  # the far end closes when the process ends
            while more := os.read(terminal, 1000):
                shown += more
                if interrupt_after and interrupt_after in shown.decode(errors="ignore"):
                    process.send_signal(signal.SIGINT)
                    interrupt_after = ""
        os.close(terminal)
        out = process.stdout.read() if process.stdout else ""
        hung.cancel()
    return Done(process.returncode, out, shown.decode())


@dataclass
class Tenant:
    """A company of a home, with imports and exports of its files."""

    home: Home
    code: str

    def take(self, kind: str, content: str | bytes, *flags: str) -> tuple[int, int, int]:
        """Import a file that must be valid. Return how many rows were created, updated and unchanged."""
        arguments = ("import", kind, "-", "--company", self.code, "--json", *flags)
        said = self.home.ok(*arguments, stdin=content).json
        assert (said["kind"], said["dry_run"]) == (kind, "--dry-run" in flags)
        return said["created"], said["updated"], said["unchanged"]

    def refuses(self, kind: str, content: str | bytes) -> list[str]:
        """Import a file that must be refused and must change nothing.

        Return the errors of its rows, without the cells.
        """
        before = hashes(self.home.data)
        sentences = self.home.refusals("import", kind, "-", "--company", self.code, stdin=content)
        assert hashes(self.home.data) == before
        if sentences[-1].startswith("Nothing was imported."):
            return [re.sub(r' The cell has ".*"\.$', "", sentence) for sentence in sentences[:-1]]
        (sentence,) = sentences
        return [sentence.removeprefix("<stdin>: ")]

    def export(self, kind: str) -> str:
        return self.home.ok("export", kind, "--company", self.code).out

    def rows(self, kind: str) -> list[dict[str, str]]:
        """Return the exported rows as an import reads them."""
        rows = csv.DictReader(io.StringIO(self.export(kind), newline=""))
        return [{name: unguarded(cell) for name, cell in row.items()} for row in rows]


def _for_start(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that are read when Python starts."""
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LD_"))}


def _greeting(process: subprocess.Popen[str], last: str) -> Iterator[str]:
    """Yield the lines on standard output, up to the line that is printed when everything is running."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line.rstrip("\n")
        if line.startswith(last):
            return


def first_day(home: Home) -> Home:
    """Create the company ACME, an admin, and the admin's token in the file `token`."""
    if home.environment or any(home.folder.iterdir()):
        return made_on_first_day(home)
    return home.begin_as(_first_day_of(home.program))


@cache
def _first_day_of(program: Program) -> Home:
    """Create a first-day installation for other homes to copy."""
    folder = program.scratch / "first-day"
    folder.mkdir()
    return made_on_first_day(Home(program, folder))


def made_on_first_day(home: Home) -> Home:
    """Create a first-day installation in this home, without copying another one."""
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    home.ok("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    token = home.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip()
    home.write("token", token)
    return home


def files_up_to(size: int) -> Callable[[], None]:
    """Return a limit for a process that can write no file larger than `size` bytes.

    For this process the disk is full, whichever user runs it.
    """
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of every file in the folder, by its name.

    Left out are files that say nothing about the data: lock files, the emergency reserve, and SQLite's -shm files
    and empty -wal files.
    """
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in ("server.lock", "borrowers.lock", "reserve")
        and not path.name.endswith("-shm")
        and not (path.name.endswith("-wal") and path.stat().st_size == 0)
    }
