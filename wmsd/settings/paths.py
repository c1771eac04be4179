"""Makes the paths of settings absolute.

A path in a configuration file is relative to that file; one of the command line or of the environment is relative
to the current directory. The data folder is ./data unless something names it, and the folder of the backups stands
beside it.
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
"""The end of the name of the default folder of the backups, which begins with the name of the data folder."""
INSIDE: Final = "backups"
"""The name of the default folder of a demo, which stands in the data folder: who removes one removes both."""


class Layer(NamedTuple):
    """What one source sets. `text` is that of a file."""

    kind: Literal["file", "environment", "command line"]
    name: str
    values: Values
    text: str = ""

    @property
    def folder(self) -> Path:
        """Where its relative paths begin: a pipe is in no folder. Raises OSError where the current directory was
        removed.
        """
        is_file = self.kind == "file" and not Path(self.name).is_fifo()
        return Path(self.name).absolute().parent if is_file else Path.cwd()


class RelativePath(NamedTuple):
    """A relative path that a layer sets."""

    section: str
    key: str
    value: str


def relative_paths(layer: Layer) -> list[RelativePath]:
    """Those of the layer, but for paths in its tables."""
    return [
        RelativePath(section, key, value)
        for section, keys in layer.values.items()
        for key, value in keys.items()
        if is_path(section_of(section).model_fields[key], value) and not Path(value).is_absolute()
    ]


def is_path(field: FieldInfo, value: object) -> bool:
    """Whether the value of the setting names a file or a folder. `tls` is a word or a path."""
    return OfPath in field.metadata and isinstance(value, str) and value not in ("", *TLS)


def absolute_paths(layer: Layer) -> Values:
    """The values of the layer, with absolute paths."""
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
    """The absolute path of a value of the layer; the value itself where the current directory was removed."""
    if Path(value).is_absolute():
        return value
    try:
        path = layer.folder / value
    except OSError:
        return value
    return os.path.realpath(path) if ".." in path.parts else str(path)


def with_defaults(settings: Settings, values: Values) -> Settings:
    """The settings with an absolute data folder, and with the default folder of the backups where the values name
    none.
    """
    data = from_folder(Layer("command line", "", {}), settings.server.data)
    changed: dict[str, Any] = {"server": settings.server.model_copy(update={"data": data})}
    if "folder" not in values.get("backup", {}):
        changed["backup"] = settings.backup.model_copy(update={"folder": str(default_backups(Path(data)))})
    return settings.model_copy(update=changed)


def default_backups(data: Path) -> Path:
    """Named after the data folder and beside it, whatever links lead to it, so that no two data folders share it.
    That of a demo is in the data folder.
    """
    inside = data / INSIDE
    if os.path.isdir(inside):  # noqa: PTH112  (a folder that this user may not see is none)
        return inside
    real = Path(os.path.realpath(data))
    return real.with_name(f"{real.name}{BESIDE}") if real.name else inside
