"""Conversion of paths in settings to absolute paths.

A path in a configuration file is relative to that file. A path from the command line or the environment is
relative to the current directory. The default data folder is ./data. The default folder of the backups is next to
the data folder.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic.fields import FieldInfo

from wmsd.contract.secret_fields import OfPath
from wmsd.settings.all_settings import Settings, section_of, table_of
from wmsd.settings.sections.fields import TLS

Values = dict[str, dict[str, Any]]
BESIDE: Final = "-backups"
"""The suffix in the name of the default backup folder. For the data folder `data`, the backup folder is
`data-backups`.
"""
INSIDE: Final = "backups"
"""The name of a demo's default backup folder. It is in the data folder, so that one folder contains all of a
demo.
"""


class Layer(NamedTuple):
    """The settings from one source. `text` is the content of the configuration file, or "" if the source is not a
    file.
    """

    kind: Literal["file", "environment", "command line"]
    name: str
    values: Values
    text: str = ""

    @property
    def folder(self) -> Path:
        """The folder to which relative paths of this source belong.

        For a configuration file, it is the folder of the file. For a pipe, the environment and the command line,
        it is the current directory. Raise OSError if the current directory was removed.
        """
        is_file = self.kind == "file" and not Path(self.name).is_fifo()
        return Path(self.name).absolute().parent if is_file else Path.cwd()


class RelativePath(NamedTuple):
    """A relative path that a source sets."""

    section: str
    key: str
    value: str


def relative_paths(layer: Layer) -> list[RelativePath]:
    """Return the relative paths that the source sets. Leave out paths in lists of tables, such as the secret file
    of a sign-on provider.
    """
    return [
        RelativePath(section, key, value)
        for section, keys in layer.values.items()
        for key, value in keys.items()
        if is_path(section_of(section).model_fields[key], value) and not Path(value).is_absolute()
    ]


def is_path(field: FieldInfo, value: object) -> bool:
    """Return True if the value names a file or folder. The setting `tls` is either a word or a path."""
    return OfPath in field.metadata and isinstance(value, str) and value not in ("", *TLS)


def absolute_paths(layer: Layer) -> Values:
    """Return the values of the source, with absolute paths."""
    return {
        section: dict(_placed(layer, section_of(section).model_fields, keys))
        for section, keys in layer.values.items()
    }


def _placed(layer: Layer, fields: Mapping[str, FieldInfo], values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        field = fields[key]
        table = table_of(field)
        if table is not None and isinstance(value, list):
            yield key, [dict(_placed(layer, table.model_fields, each)) for each in value]
        else:
            yield key, from_folder(layer, value) if is_path(field, value) else value


def from_folder(layer: Layer, value: str) -> str:
    """Return the path `value` of this source as an absolute path.

    If the path is relative to the current directory, and this directory was removed, return `value` unchanged.
    """
    if Path(value).is_absolute():
        return value
    try:
        path = layer.folder / value
    except OSError:
        return value
    return os.path.realpath(path) if ".." in path.parts else str(path)


def with_defaults(settings: Settings, values: Values) -> Settings:
    """Return the settings with an absolute data folder. If `values` have no `backup.folder`, also set the default
    backup folder.
    """
    data = from_folder(Layer("command line", "", {}), settings.server.data)
    changed: dict[str, Any] = {"server": settings.server.model_copy(update={"data": data})}
    if "folder" not in values.get("backup", {}):
        changed["backup"] = settings.backup.model_copy(update={"folder": str(default_backups(Path(data)))})
    return settings.model_copy(update=changed)


def default_backups(data: Path) -> Path:
    """Return the default folder for backups.

    If the data folder contains a folder named `INSIDE`, as in a demo, return this folder. Otherwise return a
    folder next to the data folder. Its name is the name of the data folder, followed by `BESIDE`. If `data` is a
    link, the folder to which the link leads counts as the data folder. Two data folders never share a backup
    folder.
    """
    inside = data / INSIDE
    if os.path.isdir(inside):  # noqa: PTH112  (a folder that this user may not see counts as missing)
        return inside
    real = Path(os.path.realpath(data))
    return real.with_name(f"{real.name}{BESIDE}") if real.name else inside
