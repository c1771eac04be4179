"""What a page of the guide is made of."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from wmsd.base.dataclass import dataclass

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


class Source(Protocol):
    @property
    def title(self) -> str: ...

    def markdown(self) -> str:
        """The whole page, which begins with its title. It may take a second."""


@dataclass(frozen=True, slots=True)
class File:
    path: "Traversable"

    @property
    def title(self) -> str:
        with self.path.open(encoding="utf-8") as file:
            return file.readline().lstrip("#").strip()

    def markdown(self) -> str:
        return self.path.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Made:
    """Of declarations."""

    title: str
    make: Callable[[], str]

    def markdown(self) -> str:
        return self.make()


def table_cell(text: str) -> str:
    """Text in a table: a `|` would end its cell, and `*` would be a mark."""
    return text.replace("|", "\\|").replace("*", "\\*")
