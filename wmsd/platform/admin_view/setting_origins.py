"""Where each setting in force comes from: default, file with its line, environment or command line."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from wmsd.settings.paths import Layer
from wmsd.settings.sources import ENVIRONMENT

BLANKS: Final = " \t"
FLAG: Final = "--{}"
MOST_LINES: Final = 200
"""Of one value."""


class Origin(NamedTuple):
    """`place` is the path of the file, the name of the variable, or the flag."""

    source: Literal["default", "file", "environment", "command line"]
    place: str | None = None
    line: int | None = None


DEFAULT: Final = Origin("default")


def origin_of(layers: Iterable[Layer], section: str, key: str) -> Origin:
    """The last layer that sets it counts."""
    found = DEFAULT
    for layer in layers:
        if key in layer.values.get(section, {}):
            found = _in(layer, section, key)
    return found


def _in(layer: Layer, section: str, key: str) -> Origin:
    match layer.kind:
        case "file":
            return Origin("file", layer.name, line_of(layer.text, section, key))
        case "environment":
            return Origin("environment", f"{ENVIRONMENT}{section}_{key}".upper())
        case _:
            return Origin("command line", FLAG.format(key.replace("_", "-")))


def line_of(text: str, section: str, key: str) -> int | None:
    """The line, from 1 on, that sets a key in a TOML file; None where that is not plain to see. A line may look
    like it in another section, or inside of a text: so the file must be whole before it without the key, and whole
    after the value with it.
    """
    lines = text.splitlines()
    for number in _candidates(lines, section, key):
        before = _parsed(lines[:number])
        if before is not None and not _has(before, section, key) and _sets(lines, number, section, key):
            return number + 1
    return None


def _candidates(lines: Sequence[str], section: str, key: str) -> Iterator[int]:
    begins = (key, f'"{key}"', f"'{key}'", f"{section}.{key}", f"[[{section}.{key}]]", f"{section} ")
    return (number for number, line in enumerate(lines) if line.lstrip(BLANKS).startswith(begins))


def _sets(lines: Sequence[str], number: int, section: str, key: str) -> bool:
    """Whether what begins in this line sets the key. A value may have several lines."""
    ends = range(number + 1, min(number + MOST_LINES, len(lines)) + 1)
    whole = next((found for end in ends if (found := _parsed(lines[:end])) is not None), {})
    return _has(whole, section, key)


def _has(found: Mapping[str, Any], section: str, key: str) -> bool:
    return key in found.get(section, {})


def _parsed(lines: Sequence[str]) -> dict[str, Any] | None:
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None
