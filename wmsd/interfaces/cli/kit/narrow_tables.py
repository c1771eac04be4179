"""Makes a table for people as narrow as a terminal."""

import shutil
import sys
from typing import Any, Final

from wmsd.interfaces.cli.kit.command_line import shown_cell

NARROWEST: Final = 80
BETWEEN: Final = 2
LEAST: Final = 8
"""The characters that stay of the widest column, whatever the others take."""


def fitted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the longest texts cut, except in the first column, which names the record."""
    if not rows:
        return rows
    widest = shutil.get_terminal_size().columns if sys.stdout.isatty() else NARROWEST
    table = [{name: shown_cell(value) for name, value in row.items()} for row in rows]
    others = list(table[0])[1:]
    widths = {name: max(len(name), *(len(row[name]) for row in table)) for name in table[0]}
    for _ in others:
        over = sum(widths.values()) + BETWEEN * len(others) - max(widest, NARROWEST)
        longest = max(others, key=lambda name: widths[name])
        if over <= 0 or widths[longest] <= LEAST:
            break
        widths[longest] = max(LEAST, len(longest), widths[longest] - over)
    return [{name: _cut(text, widths[name]) for name, text in row.items()} for row in table]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
