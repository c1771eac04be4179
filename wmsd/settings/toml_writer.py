"""Settings as a TOML file: `config.example.toml`, and the settings in force."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from wmsd.settings.all_settings import Settings, section_of, table_of


def example() -> str:
    """Return the text of `config.example.toml`: every key with its comment and default."""
    lines = [
        "# Settings of wmsd. This file shows every key with its default; remove the `#` before a key "
        "that you change.",
        "# A flag overrides the environment (WMSD_SERVER_LISTEN=…), and the environment overrides this file.",
    ]
    for section in Settings.model_fields:
        model = section_of(section)
        lines += ["", f"# {model.__doc__}", f"[{section}]"]
        for key, field in model.model_fields.items():
            lines += [f"# {field.description}", f"# {key} = {as_written(field.default)}"]
            if (table := table_of(field)) is not None:
                lines += ["#", *_example_table(f"{section}.{key}", table)]
    return "\n".join(lines) + "\n"


def _example_table(name: str, table: type[BaseModel]) -> list[str]:
    """Return the lines of an example table with all its keys. Every line begins with `#` and three spaces, to
    distinguish the example from settings with their defaults.
    """
    lines = [f"#   # {table.__doc__}", f"#   [[{name}]]"]
    inner: list[str] = []
    for key, field in table.model_fields.items():
        if (members := table_of(field)) is not None:
            inner += ["#", *_example_table(f"{name}.{key}", members)]
            continue
        value = field.examples[0] if field.examples else field.default
        lines.append(f"#   {key} = {as_written(value)}  # {field.description}")
    return lines + inner


def toml(value: Any) -> str:
    """Return a value as it is written in the configuration file. A list of tables becomes one line of JSON."""
    if isinstance(value, list) and value and _are_tables(value):
        return json.dumps(value, ensure_ascii=False)
    return as_written(value)


def as_written(value: Any) -> str:
    """Return a value as it is written in the configuration file. The value must not contain tables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(as_written(member) for member in value)}]"
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)


def as_toml(settings: Settings) -> str:
    """Return the settings in force, as a TOML file."""
    lines: list[str] = []
    for section, keys in settings.model_dump().items():
        lines += _as_table(section, keys)
    return "\n".join(lines)


def _as_table(name: str, keys: Mapping[str, Any], brackets: str = "[{}]") -> list[str]:
    """Return the lines of the table `name`: its values, followed by its inner tables. `brackets` is the format of
    its first line, such as `[{}]`.
    """
    tables = {
        key: value for key, value in keys.items() if value and isinstance(value, list) and _are_tables(value)
    }
    values = [f"{key} = {as_written(value)}" for key, value in keys.items() if key not in tables]
    lines = [brackets.format(name), *values, ""]
    for key, members in tables.items():
        for member in members:
            lines += _as_table(f"{name}.{key}", member, "[[{}]]")
    return lines


def _are_tables(values: list[Any]) -> bool:
    return all(isinstance(value, dict) for value in values)
