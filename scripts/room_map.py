"""The map of the packages in `wmsd/docs/architecture.md`, from the first line of each package's docstring.

`scripts/map` writes the map into the page. `tests/test_rooms.py` checks that the map in the page is current.
"""

import ast
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "wmsd"
PAGE: Final = PACKAGE / "docs" / "architecture.md"
MAP: Final = re.compile(r"(?<=## The packages\n\n```\n).*?(?=```\n)", re.DOTALL)
INDENT: Final = "  "


def sentence_of(room: Path) -> str:
    """Return the first line of the package's docstring."""
    source = (room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def rooms() -> list[Path]:
    """Return every package of wmsd, each before its subpackages.

    The top packages are in the order of their layers: a package may import only packages after it.
    """
    found = [file.parent for file in PACKAGE.rglob("__init__.py") if file.parent != PACKAGE]
    return sorted(found, key=lambda room: (_storey(room), room.parts))


def drawn() -> str:
    """Return the map, with a line for each package."""
    depths = [(len(room.relative_to(PACKAGE).parts) - 1, room) for room in rooms()]
    names = [f"{INDENT * depth}{room.name}/" for depth, room in depths]
    width = max(map(len, names)) + 1
    lines = (f"{name:<{width}}{sentence_of(room)}" for name, (_, room) in zip(names, depths, strict=True))
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write the map into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MAP.sub(lambda _: drawn(), page, count=1), encoding="utf-8")


def _storey(room: Path) -> int:
    """Return the number of the top package's layer in the first contract of import-linter, from 0.

    A package without a layer, such as the guide's text, comes last.
    """
    layers = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL)
    assert layers is not None
    order = re.findall(r'"(\w+)"', layers[1])
    top = room.relative_to(PACKAGE).parts[0]
    return order.index(top) if top in order else len(order)


if __name__ == "__main__":
    main()
