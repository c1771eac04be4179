"""On a terminal, shows how far long work is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from wmsd.app.backups.progress import Progress, Tell, silent


@contextmanager
def shown(label: str) -> Iterator[Tell]:
    """Shows nothing where no terminal is."""
    if not sys.stderr.isatty():
        yield silent
        return
    with click.progressbar(length=1, label=label, file=sys.stderr, item_show_func=lambda name: name) as bar:

        def tell(progress: Progress) -> None:
            bar.length = max(progress.all, progress.done, 1)
            bar.update(progress.done - bar.pos, progress.name)

        yield tell
