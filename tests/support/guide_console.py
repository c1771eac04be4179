"""The console blocks of a page of the guide, run one after another in a temporary folder with the real program.

A block marked `console` has only commands, or it starts each command with `$ ` and shows the output. In the
output, `…` stands for any text in a line, and for any lines if it is alone on a line. A server that a command
starts runs until the page ends, or until it is stopped.
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
"""The beginnings of absolute paths on a page. In a test, these paths are below the temporary folder."""
LISTENS: Final = re.compile(r"(?:0\.0\.0\.0|127\.0\.0\.1|localhost):8480")
OF_EVERY_COMMAND: Final = "Data folder: "
AGREED: Final = "y\n"
"""The standard input of every command, which answers a question with yes."""
FORKED: Final = Path(__file__).with_name("forked_command.py")
SHIMS: Final = {
    "wmsd": f'exec {sys.executable} -I -S {FORKED} "$@"\n',
    "sudo": 'if [ "$1" = -u ]; then shift 2; fi\nexec "$@"\n',
    "chown": "exit 0\n",
}
"""Shell scripts that replace programs of the machine. `chown` does nothing, because a test cannot change the owner
of a file.
"""


class Block(NamedTuple):
    language: str
    text: str


class Step(NamedTuple):
    command: str
    prints: str | None
    """The expected output, or None if the page does not show the output."""


class Ran(NamedTuple):
    code: int
    printed: str


def blocks(page: str) -> list[Block]:
    return [Block(found["language"], textwrap.dedent(found["text"])) for found in FENCE.finditer(page)]


def steps(page: str) -> list[Step]:
    """Return the commands that the page tells the reader to type, in order."""
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
    """Return True if `prints`, the output on the page, matches what was printed."""
    lines = [
        re.escape(line).replace("…", ".*") if line.strip() != "…" else r"(?:.*\n?)*" for line in prints.split("\n")
    ]
    told = [line for line in printed.rstrip("\n").split("\n") if not line.startswith(OF_EVERY_COMMAND)]
    return re.fullmatch("\n".join(lines), "\n".join(told)) is not None


@dataclass
class Console:
    """A terminal in an empty folder that stands for a separate machine."""

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
        """Write a configuration file that every command uses."""
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
        """Return the text with the paths and the address of the test in place of those on the page."""
        return LISTENS.sub(f"127.0.0.1:{self.port}", PLACES.sub(f"{self.root}/", text))

    def there(self, text: str) -> str:
        """Return the text with the paths and the address of the page in place of those of the test."""
        return text.replace(f":{self.port}", ":8480").replace(f"{self.folder}/", "").replace(str(self.root), "")

    def type(self, command: str) -> Ran:
        process = self._start(command, stdin=subprocess.PIPE)
        try:
            printed, _ = process.communicate(AGREED, timeout=LONGEST)
        finally:
            _end(process, signal.SIGKILL)
        return Ran(process.returncode, self.there(printed))

    def serve(self, command: str = "wmsd serve") -> Ran:
        """Start a server, after stopping a running one. Return what it printed by the time it serves."""
        self.stop()
        self.server = self._start(command)
        printed = _until(self.server, "Guide:")
        return Ran(0 if "Guide:" in printed else 1, self.there(printed))

    def look(self, command: str) -> Ran:
        """Run a command that continues until Ctrl-C, and send Ctrl-C after its first line."""
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

    def _start(self, command: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", self.here(command)],
            cwd=self.folder,
            env={**self._environment, "FORKS": str(self.program.requests)},
            pass_fds=(self.program.requests,),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def _until(process: "subprocess.Popen[str]", beginning: str) -> str:
    """Return the output up to the first line that starts with `beginning`, or all output if the process ends
    earlier.
    """
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
    """End the process together with every process that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    with suppress(subprocess.TimeoutExpired):
        process.wait(LONGEST)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
