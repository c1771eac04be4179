"""Shows the progress of an import at the terminal."""

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
"""Between two looks how far a file is read."""
TOLD = "rows "
"""Begins a line that tells how many rows are done, of how many."""
TELL_SECONDS = 0.25
"""Between two of them."""
PATIENCE_SECONDS = 5.0
OTHERS_WAIT = (
    "The rows are being written. Until that is done other writes to this company's data wait; those that have "
    f"waited for {BUSY_SECONDS:.0f} s are refused, with 503 and Retry-After. Smaller files make them wait less."
)


class ShownProgress(Watch):
    """Shows two bars, one after the other: bytes of the file that were read, then rows that were written.

    For a pipe, whose size is not known, it shows the number of lines. For a keyboard it shows no bar.
    """

    def __init__(self, kind: str, file: IO[bytes]) -> None:
        self._kind, self._file = kind, file
        self._importing: Any = None
        self._open = ExitStack()
        self._found = _state(file)
        """The file's size and time before it is read; None for a pipe."""
        self._impatience = Timer(PATIENCE_SECONDS, note, [OTHERS_WAIT])
        self._impatience.daemon = True

    def close(self) -> None:
        """Ends the bars, so that what is told next has a line of its own."""
        self._impatience.cancel()
        self._open.close()

    @contextmanager
    def source(self) -> Iterator[IO[bytes]]:
        """The file, or all that comes over a pipe: it is read more than once."""
        if self._found is not None and self._found[0]:
            with os.fdopen(os.dup(self._file.fileno()), "rb") as same:  # standard input cannot go back by itself
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
        """Raises Unreadable when others wrote the file while it was read."""
        if _state(self._file) != self._found:
            raise Unreadable("the file has changed while it was read. Import it again when it is complete.")

    def reading(self, texts: Generator[str, None, None], file: IO[bytes]) -> Generator[str, None, None]:
        """Passes the lines of the file on, and shows how far it is. Close it. Raises Unreadable."""
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
        """Ignores Ctrl-C from here on, because what is committed cannot be called interrupted. It ends soon."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class ToldProgress(ShownProgress):
    """Tells the server that has started the command, in lines, how many rows are done."""

    _told_at = -math.inf

    def rows(self, done: int, of: int) -> None:
        """Now and then, so that what it has said stays short, however many rows there are."""
        now = time.monotonic()
        if done >= of or now - self._told_at >= TELL_SECONDS:
            self._told_at = now
            click.echo(f"{TOLD}{done} {of}", err=True)

    def writing(self) -> None:
        """Nobody looks at a terminal."""


def _state(file: IO[bytes]) -> tuple[int, int] | None:
    try:
        found = os.fstat(file.fileno())
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
