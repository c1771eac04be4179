"""Shows the progress of an import: as bars at a terminal, or as lines for the server that started the command."""

import math
import os
import signal
import stat
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, Any

import click

from wmsd.contract.bulk_imports import Watch
from wmsd.db.engine.sqlite import BUSY_SECONDS
from wmsd.imports.csv_rows import Unreadable
from wmsd.interfaces.cli.kit.command_line import note

LINES = 1000
"""How many lines are read between two updates of the progress bar."""
TOLD = "rows "
"""The beginning of a line that reports progress: `rows 500 2000` means that 500 of 2000 rows are done."""
TELL_SECONDS = 0.25
"""The shortest time between two lines that report progress, in seconds."""
PATIENCE_SECONDS = 5.0
OTHERS_WAIT = (
    "wmsd is writing the rows. Until this is done, other writes to this company's data wait; after "
    f"{BUSY_SECONDS:.0f} s they are refused with 503 and Retry-After. Smaller files shorten the wait."
)


class ShownProgress(Watch):
    """Two progress bars, one after the other: bytes of the file that were read, then rows that were written.

    The size of a pipe is not known, so the number of read lines is displayed instead of bytes. Input typed at a
    keyboard has no bar.
    """

    def __init__(self, kind: str, file: IO[bytes]) -> None:
        self._kind, self._file = kind, file
        self._importing: Any = None
        self._open = ExitStack()
        self._found = _state(file)
        """The size and modification time of the file before it is read; None for a pipe."""
        self._impatience = Timer(PATIENCE_SECONDS, note, [OTHERS_WAIT])
        self._impatience.daemon = True

    def close(self) -> None:
        """End the bars, so that the next output starts on a new line."""
        self._impatience.cancel()
        self._open.close()

    @contextmanager
    def source(self) -> Iterator[IO[bytes]]:
        """Yield the file, or a temporary copy of the data from a pipe.

        The import reads the source more than once.
        """
        if self._found is not None and self._found[0]:
            # seekable, also if the file is standard input
            with os.fdopen(os.dup(self._file.fileno()), "rb") as same:
                yield same
            return
        with TemporaryFile(prefix="wmsd-import-") as kept:
            for line in self._lines():
                kept.write(line)
            kept.seek(0)
            yield kept

    @property
    def file_name(self) -> str:
        return Path(self._file.name).name

    def _lines(self) -> Iterator[bytes]:
        if not sys.stderr.isatty() or self._file.isatty():
            yield from self._file
            return
        label = f"Reading {self._kind}"
        with click.progressbar(self._file, label=label, show_pos=True, file=sys.stderr) as lines:
            yield from lines

    def check_unchanged(self) -> None:
        """Raise Unreadable if another program changed the file while it was read."""
        if _state(self._file) != self._found:
            raise Unreadable("the file changed while wmsd read it. Import the file again when it is complete.")

    def reading(self, texts: Generator[str, None, None], file: IO[bytes]) -> Generator[str, None, None]:
        """Yield `texts`, the lines that are read from `file`, and update the progress bar.

        The caller must close the generator. Raise Unreadable if the file changed.
        """
        with closing(texts):
            yield from self._shown(texts, file)
        self.check_unchanged()

    def _shown(self, texts: Iterator[str], file: IO[bytes]) -> Iterator[str]:
        if not sys.stderr.isatty():
            yield from texts
            return
        size = os.fstat(file.fileno()).st_size
        with click.progressbar(length=size, label=f"Reading {self._kind}", file=sys.stderr) as bar:
            for number, text in enumerate(texts):
                if number % LINES == 0:
                    bar.update(file.tell() - bar.pos)
                yield text
            bar.update(size - bar.pos)

    def rows(self, done: int, of: int) -> None:
        if not sys.stderr.isatty() or not of:
            return
        if self._importing is None:
            label = f"Importing {self._kind}"
            self._importing = self._open.enter_context(click.progressbar(length=of, label=label, file=sys.stderr))
        self._importing.update(min(done, self._importing.length) - self._importing.pos)

    def writing(self) -> None:
        self._impatience.start()

    def committing(self) -> None:
        """Ignore Ctrl-C from now on, because a committed import must not be reported as interrupted.

        A commit takes only a moment, so nobody waits long.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class ProgressLines(ShownProgress):
    """A progress report in lines of text, for the server that started the command."""

    _told_at = -math.inf

    def rows(self, done: int, of: int) -> None:
        """Print the number of rows that are done, at most once every TELL_SECONDS, so that the output stays
        short.
        """
        now = time.monotonic()
        if done >= of or now - self._told_at >= TELL_SECONDS:
            self._told_at = now
            click.echo(f"{TOLD}{done} {of}", err=True)

    def writing(self) -> None:
        """Print nothing, because no person is at the terminal."""


def _state(file: IO[bytes]) -> tuple[int, int] | None:
    try:
        found = os.fstat(file.fileno())
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
