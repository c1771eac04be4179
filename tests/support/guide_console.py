"""The console blocks of a page of the guide, typed one after the other in a scratch folder, with the real program.

A block marked `console` has commands only, or begins each with `$ ` and shows what it prints. There `…` stands for
anything in the line, and alone on a line for any lines. A server that a command starts goes on to the page's end,
or until it is stopped.
"""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.command import NO_BACKUPS
from tests.support.faults.trial import free_port
from tests.support.forked import LONGEST, ROOT, Program

FENCE: Final = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
CONSOLE: Final = "console"
PROMPT: Final = "$ "
PLACES: Final = re.compile(r"(?<![\w.])/(?=(?:mnt|etc/wmsd|var/lib/wmsd)\b)")
"""Where the places of a machine begin, which are in the scratch folder here."""
LISTENS: Final = re.compile(r"(?:0\.0\.0\.0|127\.0\.0\.1|localhost):8480")
OF_EVERY_COMMAND: Final = "Data folder: "
AGREED: Final = "y\n"
"""What somebody who follows the page answers to a question."""
FORKED: Final = Path(__file__).with_name("forked_command.py")
WMSD: Final = f"""
if [ -n "$FORKS" ] && [ "$1" != serve ]; then exec {sys.executable} -I -S {FORKED} "$@"; fi
exec {sys.executable} -P -c "from wmsd.interfaces.cli.main import main; main()" "$@"
"""
"""Starts what goes on, and has all else forked."""
SHIMS: Final = {
    "wmsd": WMSD,
    "sudo": 'if [ "$1" = -u ]; then shift 2; fi\nexec "$@"\n',
    "chown": "exit 0\n",
}
"""Programs that stand in for those of the machine. Who owns a file is nothing that a test could change."""


class Block(NamedTuple):
    language: str
    text: str


class Step(NamedTuple):
    command: str
    prints: str | None
    """None where the page does not show it."""


class Ran(NamedTuple):
    code: int
    printed: str


def blocks(page: str) -> list[Block]:
    return [Block(found["language"], textwrap.dedent(found["text"])) for found in FENCE.finditer(page)]


def steps(page: str) -> list[Step]:
    """What the page has somebody type, in its order."""
    return [step for block in blocks(page) if block.language == CONSOLE for step in _steps(block.text)]


def _steps(text: str) -> Iterator[Step]:
    lines = text.replace("\\\n", " ").splitlines()
    if not text.startswith(PROMPT):
        yield from (Step(line, None) for line in lines if line and not line.startswith("#"))
        return
    for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
        command, _, prints = part.partition("\n")
        yield Step(command, prints.rstrip("\n"))


def is_shown(prints: str, printed: str) -> bool:
    """Whether the page shows what was printed."""
    lines = [
        re.escape(line).replace("…", ".*") if line.strip() != "…" else r"(?:.*\n?)*" for line in prints.split("\n")
    ]
    told = [line for line in printed.rstrip("\n").split("\n") if not line.startswith(OF_EVERY_COMMAND)]
    return re.fullmatch("\n".join(lines), "\n".join(told)) is not None


@dataclass
class Console:
    """A terminal in an empty folder of a machine of its own."""

    root: Path
    program: Program
    environment: dict[str, str] = field(default_factory=dict)
    server: "subprocess.Popen[str] | None" = None

    def __post_init__(self) -> None:
        self.folder = self.root / "home"
        self.port = free_port()
        for place in (self.folder, self.root / "bin", self.root / "mnt", self.root / "etc" / "wmsd"):
            place.mkdir(parents=True)
        for name, script in SHIMS.items():
            shim = self.root / "bin" / name
            shim.write_text(f"#!/bin/sh\n{script}")
            shim.chmod(0o755)

    def configure(self, settings: str) -> None:
        """Gives every command a configuration file."""
        file = self.root / "etc" / "wmsd" / "config.toml"
        file.write_text(self.here(settings), encoding="utf-8")
        self.environment |= {"WMSD_CONFIG": str(file)}

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "HOME": str(self.folder),
            "WMSD_SERVER_LISTEN": f"127.0.0.1:{self.port}",
            **NO_BACKUPS,
            **self.environment,
        }

    def here(self, text: str) -> str:
        """The text with the places and the address of this machine."""
        return LISTENS.sub(f"127.0.0.1:{self.port}", PLACES.sub(f"{self.root}/", text))

    def there(self, text: str) -> str:
        """The text with the places and the address that a page names."""
        return text.replace(f":{self.port}", ":8480").replace(f"{self.folder}/", "").replace(str(self.root), "")

    def type(self, command: str) -> Ran:
        process = self._start(command, self.program.requests, stdin=subprocess.PIPE)
        try:
            printed, _ = process.communicate(AGREED, timeout=LONGEST)
        finally:
            _end(process, signal.SIGKILL)
        return Ran(process.returncode, self.there(printed))

    def serve(self, command: str = "wmsd serve") -> Ran:
        """Starts a server, in place of one that runs, and returns what it has printed when it serves."""
        self.stop()
        self.server = self._start(command)
        printed = _until(self.server, "Guide:")
        return Ran(0 if "Guide:" in printed else 1, self.there(printed))

    def look(self, command: str) -> Ran:
        """A command that goes on until Ctrl-C, which it gets after its first line."""
        process = self._start(command)
        try:
            printed = _until(process, "")
        finally:
            _end(process, signal.SIGINT)
        return Ran(0 if printed else 1, self.there(printed))

    def stop(self) -> None:
        if self.server is not None:
            _end(self.server, signal.SIGTERM)
            self.server = None

    def _start(
        self, command: str, forks: int | None = None, stdin: int = subprocess.DEVNULL
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", self.here(command)],
            cwd=self.folder,
            env={**self._environment, "FORKS": "" if forks is None else str(forks)},
            pass_fds=() if forks is None else (forks,),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def _until(process: "subprocess.Popen[str]", beginning: str) -> str:
    """What it prints up to the first line that begins so; all of it when it ends before."""
    assert process.stdout is not None
    hung = threading.Timer(LONGEST, process.kill)
    hung.start()
    printed = ""
    for line in process.stdout:
        printed += line
        if line.startswith(beginning):
            break
    hung.cancel()
    return printed


def _end(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    """Ends the process with all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    with suppress(subprocess.TimeoutExpired):
        process.wait(LONGEST)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
