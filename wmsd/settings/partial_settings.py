"""The settings as far as they can be read, for the commands that help where something is wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.settings.all_settings import Settings
from wmsd.settings.paths import Layer
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sources import (
    errors_of_layer,
    errors_together,
    from_environment,
    from_flags,
    settings_of,
    text_of,
)
from wmsd.settings.toml_errors import NoToml, read_toml

MOST_LINES: Final = 20
"""Of a file that are no TOML. With more than that it is hardly a file of settings."""


class Salvaged(NamedTuple):
    settings: Settings
    layers: list[Layer]
    """Without what is wrong in them."""
    wrong: list[str]
    """A sentence for each mistake."""


def read_partial_settings(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Salvaged:
    """What is wrong is left out, so that what the sources before say holds, or the default."""
    wrong: list[str] = []
    layers = [] if file is None else [_read(file, wrong)]
    of_environment, of_variables = from_environment(environment)
    wrong += of_variables
    layers += [_without_mistakes(each, wrong) for each in (of_environment, from_flags(flags))]
    for keep in (_right_alone, _nothing):
        found = errors_together(layers)
        wrong += [each.sentence for each in found if each.sentence not in wrong]
        for section in {each.section for each in found}:
            layers = [
                each._replace(values={**each.values, section: keep(section, each.values.get(section, {}))})
                for each in layers
            ]
    return Salvaged(settings_of(layers), layers, wrong)


def _right_alone(section: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Those that need none of the others."""
    return {
        key: value
        for key, value in keys.items()
        if not errors_together([Layer("file", "", {section: {key: value}})])
    }


def _nothing(section: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _read(file: Path, wrong: list[str]) -> Layer:
    """Lines that are no TOML are left out, and what the others seem to say without them is not told."""
    try:
        lines = text_of(file).split("\n")
    except SettingsError as error:
        wrong.append(str(error))
        return Layer("file", str(file), {})
    no_toml: list[str] = []
    for _ in range(MOST_LINES):
        text = "\n".join(lines)
        try:
            layer = Layer("file", str(file), read_toml(text), text)
        except NoToml as error:
            no_toml.append(f"{file}: {error}")
            lines[error.line - 1] = ""
            continue
        others: list[str] = []
        layer = _without_mistakes(layer, others)
        wrong += no_toml[:1] or others
        return layer
    wrong += no_toml[:1]
    return Layer("file", str(file), {})


def _without_mistakes(layer: Layer, wrong: list[str]) -> Layer:
    while found := errors_of_layer(layer):
        wrong += [each.sentence for each in found]
        sections = {each.section for each in found if each.key is None}
        left_out = {(each.section, each.key) for each in found}
        values = {
            section: {key: value for key, value in keys.items() if (section, key) not in left_out}
            for section, keys in layer.values.items()
            if section not in sections
        }
        layer = layer._replace(values=values)
    return layer
