"""Shows the progress of an import at the terminal."""

import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Timer
from typing import IO, Any, Self

import click

from wmsd.base.importing import Watch
from wmsd.db.sqlite import BUSY_SECONDS
from wmsd.interfaces.cli.command_line import note

STRIDE = 65_536
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
        self._impatience = Timer(PATIENCE_SECONDS, note, [OTHERS_WAIT])
        self._impatience.daemon = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._impatience.cancel()
        self._open.close()

    def lines(self) -> Iterator[bytes]:
        """Reads the file's lines and shows how far it is."""
        if not sys.stderr.isatty() or self._file.isatty():
            yield from self._file
            return
        size = _size(self._file)
        label = f"Reading {self._kind}"
        if size is None:
            with click.progressbar(self._file, label=label, show_pos=True, file=sys.stderr) as lines:
                yield from lines
            return
        with click.progressbar(length=size, label=label, file=sys.stderr) as bar:
            pending = 0
            for line in self._file:
                pending += len(line)
                if pending > STRIDE:
                    bar.update(pending)
                    pending = 0
                yield line
            bar.update(pending)

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


def _size(file: IO[bytes]) -> int | None:
    """The size of a file; None for a pipe and an empty file."""
    try:
        found = os.fstat(file.fileno())
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_size else None
