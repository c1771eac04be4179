"""Reads the settings: a flag overrides the environment, the environment the file, and that the default."""

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_origin

from pydantic import ValidationError

from wmsd.app.settings.declared import Settings, declared, section_of, table_of
from wmsd.app.settings.fields import SettingsError
from wmsd.base.validation import field_errors

ENVIRONMENT = "WMSD_"
NOT_SETTINGS = frozenset({"WMSD_CONFIG", "WMSD_URL", "WMSD_TOKEN", "WMSD_COMPANY"})
"""WMSD_CONFIG names the file. The others are those of the examples in the guide and the reference."""
Values = dict[str, dict[str, Any]]


class Layer(NamedTuple):
    """What one source sets. `text` is that of a file."""

    kind: Literal["file", "environment", "command line"]
    name: str
    values: Values
    text: str = ""


def load(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from file, environment and flags. Raises SettingsError when one is not valid."""
    return settings_of(layers_of(file, flags, environment))


def layers_of(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[Layer]:
    """What file, environment and flags set: each layer overrides those before. Raises SettingsError."""
    environment = os.environ if environment is None else environment
    given: Values = {}
    for (section, key), value in (flags or {}).items():
        given.setdefault(section, {})[key] = value
    return [
        *([] if file is None else [_read(file)]),
        Layer("environment", "the environment", _from_environment(environment)),
        Layer("command line", "the command line", given),
    ]


def settings_of(layers: Iterable[Layer]) -> Settings:
    """Raises SettingsError when one is not valid."""
    merged: Values = {}
    for layer in layers:
        _check(layer.name, layer.values, has_types=layer.kind == "file")
        for section, keys in layer.values.items():
            merged.setdefault(section, {}).update(keys)
    settings = Settings.model_validate(merged)
    _check_together(settings)
    return settings


def _read(file: Path) -> Layer:
    import tomllib  # imported here: many commands have no file of settings

    try:
        text = file.read_text(encoding="utf-8-sig")
        return Layer("file", str(file), tomllib.loads(text), text)
    except FileNotFoundError:
        if file.is_symlink():
            raise SettingsError(f"{file}: it is a link to {file.readlink()}, and there is no such file.") from None
        raise SettingsError(f"{file}: there is no such file.") from None
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file}: this is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: {_what_is_wrong(str(error), text)}") from None


AGAIN: Final = re.compile(r"Cannot (?:overwrite a value|declare .* twice)")
PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _what_is_wrong(said: str, text: str) -> str:
    """What the library says of a file that is no TOML, in our words."""
    place, reason = PLACE.search(said), PLACE.sub("", said)
    lines = text.rstrip().split("\n")
    number = int(place[1]) if place is not None and place[1] else len(lines)
    if AGAIN.match(said):
        number = _beginning(lines, number)
        name = lines[number - 1].partition("=")[0].strip()
        return f"line {number} gives {name} a second time. Leave one of the two."
    return f"line {number} cannot be read: {reason[0].lower()}{reason[1:]}."


def _beginning(lines: list[str], number: int) -> int:
    """The number of the line in which the value begins that ends in this one."""
    import tomllib

    for before in range(number - 1, 0, -1):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("\n".join(lines[:before]))
            return before + 1
    return 1


def _from_environment(environment: Mapping[str, str]) -> Values:
    values: Values = {}
    known = {f"{ENVIRONMENT}{section}_{key}".upper(): (section, key) for section, key, _ in declared()}
    for name, text in environment.items():
        if not name.startswith(ENVIRONMENT) or name in NOT_SETTINGS:
            continue
        if name not in known:
            raise SettingsError(f"the environment: {name} is not a setting{_nearest(name, known)}")
        section, key = known[name]
        if table_of(section_of(section).model_fields[key]) is not None:
            raise SettingsError(f"the environment: {name} holds tables, which only the configuration file can.")
        is_list = get_origin(section_of(section).model_fields[key].annotation) is list
        values.setdefault(section, {})[key] = (
            [part.strip() for part in text.split(",") if part.strip()] if is_list else text
        )
    return values


def _check(source: str, values: Values, has_types: bool) -> None:
    """Checks one source. `has_types`: it tells numbers from texts, which the environment and flags do not."""
    names = [f"{section}.{key}" for section, key, _ in declared()]
    for section, keys in values.items():
        if not isinstance(keys, dict):
            raise SettingsError(f"{source}: {section} stands in no section{_nearest(section, names)}")
        if section not in Settings.model_fields:
            nearest = _nearest(section, Settings.model_fields)
            raise SettingsError(f"{source}: [{section}] is not a section{nearest}")
        for key in keys:
            if f"{section}.{key}" not in names:
                nearest = _nearest(f"{section}.{key}", names)
                raise SettingsError(f"{source}: {section}.{key} is not a setting{nearest}")
    try:
        Settings.model_validate(values, strict=has_types)
    except ValidationError as error:
        sentences = [
            f"{source}: {path} {text.removeprefix('Value error, ')}."
            for path, texts in field_errors(error).items()
            for text in texts
        ]
        raise SettingsError("\n".join(sentences)) from None


def _check_together(settings: Settings) -> None:
    """Checks settings that depend on each other, and may come from different sources."""
    tokens = settings.tokens
    if tokens.lifetime_days > tokens.most_days:
        raise SettingsError(
            f"tokens.lifetime_days is {tokens.lifetime_days}, and tokens.most_days only {tokens.most_days}. "
            f"Set tokens.lifetime_days to {tokens.most_days} or less."
        )


def _nearest(name: str, known: Iterable[str]) -> str:
    """The end of the sentence that refuses `name`: a similar name, if there is one."""
    names = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), list(names), n=1, cutoff=0.4)
    return f"; did you mean {names[found[0]]}?" if found else "."
