"""The source of a page of the guide."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from wmsd.base.dataclass import dataclass

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


@dataclass(frozen=True, slots=True)
class Source:
    title: str
    markdown: Callable[[], str]
    """The function that returns the whole page, beginning with its title. A call may take a second."""


def file_source(path: "Traversable") -> Source:
    with path.open(encoding="utf-8") as file:
        title = file.readline().lstrip("#").strip()
    return Source(title, partial(path.read_text, encoding="utf-8"))


def table_cell(text: str) -> str:
    """Escape text for a cell of a Markdown table: a `|` would end the cell, and `*` would be markup."""
    return text.replace("|", "\\|").replace("*", "\\*")
