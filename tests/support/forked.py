"""`wmsd` as forks of one process: this is how the tests run commands and start most servers."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
FIXED = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
"""The environment of every process that the tests start."""
FORKING = ROOT / "tests" / "support" / "forking.py"
LONGEST = 30.0
TELLS_WHERE = signal.SIGUSR2
"""The signal on which a fork writes to its standard error what each of its threads is doing."""


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
        """The error lines that the program printed."""
        return [line.removeprefix("wmsd: ") for line in self.err.splitlines() if line.startswith("wmsd: ")]


class Fork(subprocess.Popen[str]):
    """A process that was forked, not started.

    The fork is the child of another process, which reports the exit code of the fork.
    """

    def __init__(self, arguments: Sequence[str], answers: int, stdout: IO[str] | None) -> None:
        """Take over a fork.

        `answers` is the descriptor of a pipe that gives the process id and later the exit code. It is not a file
        object, because an open file object causes a warning when it is garbage-collected.
        """
        self._answers: int | None = answers
        self._heard = b""
        self.args, self.returncode = arguments, None
        self.stdin, self.stdout, self.stderr = None, stdout, None
        self.pid = self._next_answer()

    def __del__(self) -> None:
        self._stop_listening()

    def _stop_listening(self) -> None:
        answers, self._answers = self._answers, None
        if answers is not None:
            os.close(answers)

    def _next_answer(self) -> int:
        while b"\n" not in self._heard:
            assert self._answers is not None
            heard = os.read(self._answers, 100)
            if not heard:
                raise EOFError("the process that forks has ended")
            self._heard += heard
        answer, _, self._heard = self._heard.partition(b"\n")
        return int(answer)

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            assert self._answers is not None
            if b"\n" not in self._heard and not select.select([self._answers], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = self._next_answer()
            self._stop_listening()
        return self.returncode


class Program:
    """Runs commands as forks of one process that has imported `wmsd` (see `forking.py`)."""

    def __init__(self, scratch: Path, tree: Path = ROOT, hashes_in_full: bool = False) -> None:
        """Start the process that forks. `tree` is the folder with the package `wmsd`.

        If `hashes_in_full`, password hashes are as strong, and take as long, as in a real installation.
        """
        self.scratch = scratch
        self.environment = {**FIXED, "PYTHONPATH": str(tree)}
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(FORKING), *([] if hashes_in_full else ["--quick-passwords"])],
                env=self.environment,
                stdin=theirs.fileno(),
                start_new_session=True,
                text=True,
            )

    @property
    def requests(self) -> int:
        """The descriptor of the socket that takes requests, for `forked_command.py`."""
        return self._requests.fileno()

    def run(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes) -> Done:
        with (
            tempfile.TemporaryFile(dir=self.scratch) as given,
            tempfile.TemporaryFile(dir=self.scratch) as out,
            tempfile.TemporaryFile(dir=self.scratch) as err,
        ):
            given.write(stdin)
            given.seek(0)
            fork = self._fork(arguments, folder, environment, (given, out, err))
            try:
                code = fork.wait(LONGEST)
            except subprocess.TimeoutExpired:
                fork.kill()
                raise TimeoutError(f"{arguments} does not end") from None
            written = []
            for file in (out, err):
                file.seek(0)
                written.append(file.read().decode())
        return Done(code, *written)

    def start(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        stderr: IO[bytes],
        is_paused: bool = False,
    ) -> Fork:
        """Start a command and return while the command is running.

        The caller can read the command's standard output. If `is_paused`, the command waits for a SIGCONT.
        """
        readable, writable = os.pipe()
        stdout = os.fdopen(readable, encoding="utf-8")
        with Path(os.devnull).open("rb") as nothing, os.fdopen(writable, "wb") as out:
            return self._fork(arguments, folder, environment, (nothing, out, stderr), stdout, is_paused)

    def _fork(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        standard: Sequence[IO[bytes]],
        stdout: IO[str] | None = None,
        is_paused: bool = False,
    ) -> Fork:
        request = {
            "arguments": list(arguments),
            "folder": str(folder),
            "environment": dict(environment),
            "is_paused": is_paused,
        }
        readable, writable = os.pipe()
        with os.fdopen(writable, "wb") as answer:
            descriptors = [file.fileno() for file in (*standard, answer)]
            socket.send_fds(self._requests, [json.dumps(request).encode()], descriptors)
        return Fork(arguments, readable, stdout)

    def end(self) -> None:
        self._requests.close()
        with self._process:
            os.killpg(self._process.pid, signal.SIGKILL)
