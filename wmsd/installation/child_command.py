"""Commands of wmsd in a child process of the server, so that long work does not slow down requests."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from wmsd.host import child_process
from wmsd.host.one_file.failure_messages import sentence_of

STOP_SECONDS: Final = 5.0
LONGEST_LINE: Final = 1024 * 1024
MOST_SAID: Final = 64 * 1024
"""wmsd keeps at most this many bytes of the standard error output: the last ones."""
PIECE: Final = 8192
Tell = Callable[[dict[str, Any]], None]


class Ended(NamedTuple):
    code: int
    said: list[str]
    """The last lines of the standard error output. If the program could not unpack itself, the only line is a
    sentence that says why.
    """


class Beside:
    """Runs `command` in a child process, and never more than one process at a time.

    When the command prints a line with a JSON object on standard output, `tell` is called with this object.
    """

    def __init__(self, command: Sequence[str], tell: Tell) -> None:
        self._command = command
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._over: asyncio.Event | None = None
        """An event that is set at the end of the current run. None if no command runs."""
        self._is_stopping = False

    @property
    def is_running(self) -> bool:
        return self._over is not None

    async def run(self, *options: str) -> Ended:
        """Run the command with additional `options`. Return its exit code and the last lines of its standard error
        output.

        If the program could not unpack itself, the only line is a sentence that says why.
        """
        assert self._over is None, "one at a time"
        over = self._over = asyncio.Event()
        try:
            self._process = process = await child_process.start(
                [*self._command, *options],
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
            )
            if self._is_stopping:
                process.terminate()
            assert process.stdout is not None
            assert process.stderr is not None
            _, said = await asyncio.gather(self._hear(process.stdout), end_of(process.stderr, MOST_SAID))
            code, lines = await process.wait(), said.decode(errors="replace").splitlines()
            refused = sentence_of(lines) if code else None
            return Ended(code, lines if refused is None else [refused])
        finally:
            self._process = self._over = None
            over.set()

    async def _hear(self, output: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await output.readline()
            except ValueError:  # longer than any line that wmsd writes
                continue
            if not line:
                return
            if line.startswith(b"{"):
                with suppress(ValueError):
                    self._tell(json.loads(line))

    async def stop(self) -> None:
        """Stop the process, even if it is only about to start."""
        self._is_stopping = True
        if self._over is None:
            return
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), STOP_SECONDS)


async def end_of(output: asyncio.StreamReader, most: int) -> bytes:
    """Read the output of a process to its end, and return at most its last `most` bytes."""
    kept = b""
    while piece := await output.read(PIECE):
        kept = (kept + piece)[-most:]
    return kept
