"""The progress of long work, for a terminal or for the server that started the work."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

from wmsd.maintenance.backups.progress import Progress, Tell, silent

LEAST_SECONDS: Final = 0.25
"""The shortest time in seconds between two lines with the same `Progress.name`."""


@contextmanager
def progress_bar(label: str) -> Iterator[Tell]:
    """Yield a function that updates a progress bar. Without a terminal, the function does nothing."""
    if not sys.stderr.isatty():
        yield silent
        return
    with click.progressbar(length=1, label=label, file=sys.stderr, item_show_func=lambda name: name) as bar:

        def tell(progress: Progress) -> None:
            bar.length = max(progress.all, progress.done, 1)
            bar.update(progress.done - bar.pos, progress.name)

        yield tell


def to_server(doing: str) -> Tell:
    """Return a function that reports progress as lines of JSON on standard output. `doing` is in each line.

    For a new `Progress.name`, the function prints a line at once. For the same name, it prints at most one line
    every LEAST_SECONDS.
    """
    last: tuple[str, float] = "", 0.0

    def tell(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if progress.name != last[0] or now >= last[1] + LEAST_SECONDS:
            last = progress.name, now
            say_line({"doing": doing, **progress._asdict()})

    return tell


def say_line(line: dict[str, Any]) -> None:
    """Print a line of JSON on standard output. If nobody reads the output any more, the work continues."""
    with suppress(OSError):
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
