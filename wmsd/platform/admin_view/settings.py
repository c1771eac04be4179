"""Every setting in force, from the declarations, and its source.

The source is the default, the file with the line, the environment or the command line. Secrets are not shown.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic.fields import FieldInfo

from wmsd.contract.secret_fields import Secret
from wmsd.dispatch import masking
from wmsd.platform.admin_view.schema import SettingShown
from wmsd.settings.all_settings import Settings, sections
from wmsd.settings.environment import ENVIRONMENT
from wmsd.settings.paths import Layer
from wmsd.settings.sections.fields import ReadEachTime
from wmsd.settings.toml_writer import toml
from wmsd.tenants.sign_on.providers import NOT_SHOWN

BLANKS: Final = " \t"
FLAG: Final = "--{}"
MOST_LINES: Final = 200
"""How many lines of a TOML file the value of one setting may have."""


class Origin(NamedTuple):
    """The source of a setting. `place` is the path of the file, the name of the variable, or the flag."""

    source: Literal["default", "file", "environment", "command line"]
    place: str | None = None
    line: int | None = None


DEFAULT: Final = Origin("default")


def origin_of(layers: Iterable[Layer], section: str, key: str) -> Origin:
    """Return the source of a setting: the last layer that sets it, or else the default."""
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
    """Return the number of the line, from 1, that sets a key in a TOML file. Return None if this line is
    uncertain.

    A line that looks right may belong to another section or to a text of several lines. Therefore the function
    parses the file twice. The lines before this line must be valid TOML without the key. The lines up to the end
    of the value must be valid TOML with the key.
    """
    lines = text.splitlines()
    for number in _candidates(lines, section, key):
        before = _parsed(lines[:number])
        if before is not None and key not in before.get(section, {}) and _sets(lines, number, section, key):
            return number + 1
    return None


def _candidates(lines: Sequence[str], section: str, key: str) -> Iterator[int]:
    begins = (key, f'"{key}"', f"'{key}'", f"{section}.{key}", f"[[{section}.{key}]]", f"{section} ")
    return (number for number, line in enumerate(lines) if line.lstrip(BLANKS).startswith(begins))


def _sets(lines: Sequence[str], number: int, section: str, key: str) -> bool:
    """Return True if the line with the index `number`, from 0, sets the key. The value may continue on the next
    lines.
    """
    ends = range(number + 1, min(number + MOST_LINES, len(lines)) + 1)
    whole = next((found for end in ends if (found := _parsed(lines[:end])) is not None), {})
    return key in whole.get(section, {})


def _parsed(lines: Sequence[str]) -> dict[str, Any] | None:
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def settings_as_json(settings: Settings, layers: Sequence[Layer]) -> dict[str, Any]:
    values = settings.model_dump()
    data = [
        _setting(section, key, field, values[section][key], layers).model_dump()
        for section, model in sections().items()
        for key, field in model.model_fields.items()
    ]
    file = next((each.name for each in layers if each.kind == "file"), None)
    return {"file": None if file is None else str(Path(file).absolute()), "data": data}


def value_as_toml(field: FieldInfo, value: object) -> str:
    """Return a value as TOML without secrets, to show it to platform admins."""
    return NOT_SHOWN if Secret in field.metadata and value else masking.text(toml(value))


def _setting(section: str, key: str, field: FieldInfo, value: object, layers: Iterable[Layer]) -> SettingShown:
    source, place, line = origin_of(layers, section, key)
    return SettingShown(
        name=f"{section}.{key}",
        value=value_as_toml(field, value),
        default=toml(field.default),
        is_default=source == DEFAULT.source or value == field.default,
        source=source,
        place=place,
        line=line,
        says=field.description or "",
        read="each time" if ReadEachTime in field.metadata else "at the start",
    )
