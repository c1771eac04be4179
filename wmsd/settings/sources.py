"""Reads the settings from their sources: flags override the environment, the environment overrides the file, and
the file overrides the defaults.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from wmsd.contract.validation import field_errors
from wmsd.settings.all_settings import Settings, declared_settings, default_of
from wmsd.settings.environment import from_environment, nearest_name
from wmsd.settings.paths import Layer, Values, absolute_paths, with_defaults
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.toml_errors import NoToml, read_toml
from wmsd.settings.toml_writer import as_written

IN_FILES: Final = {
    "must be a string": "must be a text in quotation marks{example}",
    "must be an array": 'must be a list, such as ["a", "b"]',
    "must be an object": "must be a table",
    "must be true or false": "must be true or false, without quotation marks",
    "must be a whole number": "must be a whole number without quotation marks{example}",
}
"""The error messages for values of a wrong type in a configuration file. The key is the API's message for the same
error.
"""


def layers_of(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[Layer]:
    """Return the settings of the file, of the environment and of the flags, in this order. Each layer overrides
    the layers before it.

    Raise SettingsError if a source cannot be read.
    """
    of_environment, wrong = from_environment(environment)
    if wrong:
        raise SettingsError("\n".join(wrong))
    return [*([] if file is None else [_read(file)]), of_environment, from_flags(flags)]


def from_flags(flags: Mapping[tuple[str, str], str] | None) -> Layer:
    values: Values = {}
    for (section, key), value in (flags or {}).items():
        values.setdefault(section, {})[key] = value
    return Layer("command line", "the command line", values)


def settings_of(layers: Sequence[Layer]) -> Settings:
    """Return the settings of all layers together. Raise SettingsError if any setting is invalid."""
    found = next((found for layer in layers if (found := errors_of_layer(layer))), None) or errors_together(layers)
    if found:
        raise SettingsError("\n".join(each.sentence for each in found))
    values = _merged(map(absolute_paths, layers))
    return with_defaults(Settings.model_validate(values), values)


def as_set(layers: Sequence[Layer]) -> Settings:
    """Return the settings of all layers. Relative paths stay as the user has written them. All layers must be
    valid.
    """
    return Settings.model_validate(_merged(layer.values for layer in layers))


def _merged(sources: Iterable[Values]) -> Values:
    merged: Values = {}
    for values in sources:
        for section, keys in values.items():
            merged.setdefault(section, {}).update(keys)
    return merged


def _read(file: Path) -> Layer:
    text = text_of(file)
    try:
        return Layer("file", str(file), read_toml(text), text)
    except NoToml as error:
        raise SettingsError(f"{file}: {error}") from None


def text_of(file: Path) -> str:
    """Return the text of the file. Raise SettingsError if the file cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if file.is_symlink():
            raise SettingsError(f"{file}: this is a link to {file.readlink()}, which does not exist.") from None
        raise SettingsError(f"{file}: there is no such file.") from None
    except PermissionError:
        raise SettingsError(
            f"{file}: you have no permission to read this file. Run the command with sudo."
        ) from None
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file}: this is not UTF-8 text.") from None


class Mistake(NamedTuple):
    """An error in a setting, or in a whole section if `key` is None."""

    section: str
    key: str | None
    sentence: str


def errors_of_layer(layer: Layer) -> list[Mistake]:
    """Return the errors in one source. If the source has unknown sections or settings, return only the errors
    about these.

    In a file, a number must not be written as a text, such as "60". In the environment and in flags, all values
    are texts, so a number may be a text.
    """
    unknown = list(_unknown(layer))
    if unknown:
        return unknown
    is_file = layer.kind == "file"
    return [each for each in _invalid([layer], layer.values, is_file) if each.key is not None]


def _unknown(layer: Layer) -> Iterator[Mistake]:
    names = [f"{section}.{key}" for section, key, _ in declared_settings()]
    for section, keys in layer.values.items():
        if not isinstance(keys, dict):
            nearest = nearest_name(section, names)
            yield Mistake(section, None, f"{layer.name}: {section} is not in a section{nearest}")
        elif section not in Settings.model_fields:
            nearest = nearest_name(section, Settings.model_fields)
            yield Mistake(section, None, f"{layer.name}: [{section}] is not a section{nearest}")
        else:
            for key in keys:
                if (name := f"{section}.{key}") not in names:
                    yield Mistake(
                        section, key, f"{layer.name}: {name} is not a setting{nearest_name(name, names)}"
                    )


def _invalid(layers: Sequence[Layer], values: Values, is_file: bool) -> Iterator[Mistake]:
    """Yield the errors in `values`, the merged values of the layers. If `is_file` is False, a number may be
    written as a text.
    """
    try:
        Settings.model_validate(values, strict=is_file)
    except ValidationError as error:
        for path, texts in field_errors(error).items():
            section, _, key = path.partition(".")
            for text in texts:
                words = _in_words(text, section, key) if is_file else text.removeprefix("Value error, ")
                yield Mistake(
                    section,
                    key.partition(".")[0] or None,
                    f"{_source(layers, section, words)}: {path if key else f'[{path}]'} {words}.",
                )


def _in_words(text: str, section: str, key: str) -> str:
    """Return the error `text` in the words for a configuration file. If the error is a wrong type, show the
    default as an example. Return any other error unchanged.
    """
    text = text.removeprefix("Value error, ")
    if text not in IN_FILES:
        return text
    default = default_of(section, key)
    return IN_FILES[text].format(example=f", as in {key} = {as_written(default)}" if default else "")


def errors_together(layers: Sequence[Layer]) -> list[Mistake]:
    """Return the errors in the merged settings of all layers. If each setting is valid, return the contradictions
    between settings.
    """
    merged = _merged(layer.values for layer in layers)
    if invalid := list(_invalid(layers, merged, False)):
        return invalid
    return [
        each._replace(sentence=f"{_source(layers, each.section, each.sentence)}: {each.sentence}")
        for each in _conflicts(Settings.model_validate(merged))
    ]


def _source(layers: Sequence[Layer], section: str, text: str) -> str:
    """Return the name of the source of an error. This is the last layer that sets any of the settings named in
    `text`, the sentence of the error.

    If no layer sets any of them, return the name of the last layer with this section.
    """
    named = {(section, word) for word in re.findall(r"\w+", text)} | set(re.findall(r"(\w+)\.(\w+)", text))
    of_section = [layer for layer in layers if section in layer.values]
    of_key = [layer for layer in layers if any(key in layer.values.get(of, {}) for of, key in named)]
    return (of_key or of_section)[-1].name


def _conflicts(settings: Settings) -> Iterator[Mistake]:
    tokens, server, metrics = settings.tokens, settings.server, settings.metrics
    if tokens.lifetime_days > tokens.most_days:
        yield Mistake(
            "tokens",
            None,
            f"tokens.lifetime_days is {tokens.lifetime_days}, but tokens.most_days is only "
            f"{tokens.most_days}. Set tokens.lifetime_days to {tokens.most_days} or less.",
        )
    if metrics.listen == server.listen and not server.listen.endswith(":0"):
        yield Mistake(
            "metrics",
            None,
            f"metrics.listen and server.listen are both {server.listen}. Give metrics.listen another port, "
            "or remove metrics.listen and set metrics.token_file.",
        )


MOST_LINES: Final = 20
"""The maximum number of lines that are skipped because they are not valid TOML. A file with more such lines is
probably not a configuration file.
"""


class Salvaged(NamedTuple):
    settings: Settings
    layers: list[Layer]
    """The layers without their invalid values."""
    wrong: list[str]
    """The error sentences, one for each error."""


def read_partial_settings(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Salvaged:
    """Read the settings, and skip invalid values.

    An invalid value is replaced by the value from the source with the next lower priority, or by the default.
    """
    wrong: list[str] = []
    layers = [] if file is None else [_read_right(file, wrong)]
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
    """Return the settings in `keys` that are valid if all other settings have their defaults."""
    return {
        key: value
        for key, value in keys.items()
        if not errors_together([Layer("file", "", {section: {key: value}})])
    }


def _nothing(section: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _read_right(file: Path, wrong: list[str]) -> Layer:
    """Read a file without its invalid lines and settings, and add an error for each of them to `wrong`.

    If several lines are not valid TOML, add only the first error, because it may have caused the others.
    """
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
