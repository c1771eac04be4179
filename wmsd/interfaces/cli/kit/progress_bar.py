"""Shows how far long work is: on a terminal, or to the server that has started it."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

from wmsd.maintenance.backups.progress import Progress, Tell, silent

LEAST_SECONDS: Final = 0.25
"""Between two lines about the same."""


@contextmanager
def progress_bar(label: str) -> Iterator[Tell]:
    """Shows nothing where no terminal is."""
    if not sys.stderr.isatty():
        yield silent
        return
    with click.progressbar(length=1, label=label, file=sys.stderr, item_show_func=lambda name: name) as bar:

        def tell(progress: Progress) -> None:
            bar.length = max(progress.all, progress.done, 1)
            bar.update(progress.done - bar.pos, progress.name)

        yield tell


def to_server(doing: str) -> Tell:
    """Writes a line of JSON on standard output, now and then, and for each new name."""
    last: tuple[str, float] = "", 0.0

    def tell(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if progress.name != last[0] or now >= last[1] + LEAST_SECONDS:
            last = progress.name, now
            say_line({"doing": doing, **progress._asdict()})

    return tell


def say_line(line: dict[str, Any]) -> None:
    """A line of JSON on standard output. Where nobody listens any more, the work goes on."""
    with suppress(OSError):
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
