"""Sets values in the text of a configuration file, and leaves the rest of the text as people wrote it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from wmsd.host.systemd.commands import ServiceError
from wmsd.host.systemd.paths import CONFIG, NAME, STATE
from wmsd.settings.all_settings import Settings
from wmsd.settings.paths import Layer
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sources import settings_of
from wmsd.settings.toml_errors import NoToml, read_toml
from wmsd.settings.toml_writer import as_written

FOLDERS: Final = {("server", "data"): "data", ("backup", "folder"): "backups"}
"""The settings that name folders which the server creates. The value is the default name of the folder. This
folder is inside the state folder of the service.
"""
OF_PACKAGE: Final = f"""\
# Settings of {NAME}. The guide lists all settings (/docs/settings); `wmsd config init FILE` writes them to a file.
# After a change: wmsd config check --config {CONFIG}, then systemctl restart {NAME}

"""

Values = Mapping[tuple[str, str], str]


def read_config() -> str | None:
    """Return the text of the configuration file, or None if the file does not exist. Raise ServiceError or OSError
    if the file cannot be read.
    """
    try:
        return CONFIG.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ServiceError(f"{CONFIG}: this is not UTF-8 text.") from None


def settings_from(file: Path, text: str) -> Settings:
    """Return the settings as the service reads them: from the file only, without environment variables and
    options. Raise SettingsError if the settings are not valid.
    """
    return settings_of([Layer("file", str(file), _parsed(file, text), text)])


def with_folders(file: Path, text: str, values: Values) -> str:
    """Return the text with these values, and with absolute paths of the folders in `FOLDERS`.

    Raise SettingsError if the settings are not valid, and ServiceError if the text cannot be changed.
    """
    changed = with_values(file, text, values)
    settings_from(file, changed)
    written = _parsed(file, changed)
    return with_values(
        file,
        changed,
        {
            (section, key): str(STATE / written.get(section, {}).get(key, name))
            for (section, key), name in FOLDERS.items()
        },
    )


def with_values(file: Path, text: str, values: Values) -> str:
    """Return the text with these values. Raise ServiceError if the text has a form in which single lines cannot be
    changed.
    """
    expected = _parsed(file, text)
    for (section, key), value in values.items():
        if expected.get(section, {}).get(key) != value:
            text = _with_line(text, section, key, f"{key} = {as_written(value)}")
            expected.setdefault(section, {})[key] = value
    try:
        is_done = tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        is_done = False
    if not is_done:
        names = ", ".join(f"{section}.{key}" for section, key in values)
        raise ServiceError(
            f"This command cannot edit {file} in its present form. Set these values in the file yourself: {names}."
        )
    return text


def of_package() -> str:
    """Return the configuration file of the Debian package. The file is short, so that few new versions of the
    package change it.
    """
    lines = [f"[{section}]\n{key} = {as_written(str(STATE / name))}\n" for (section, key), name in FOLDERS.items()]
    return OF_PACKAGE + "\n".join(lines)


def _with_line(text: str, section: str, key: str, line: str) -> str:
    """Return the text with `line` as the line of this setting. `line` replaces the line that sets the key. If
    there is none, it replaces the commented-out default. If there is none either, it becomes the first line of the
    section.
    """
    lines = text.splitlines()
    heading = re.compile(rf"\s*\[\s*{section}\s*\]\s*(#.*)?")
    start = next((number for number, each in enumerate(lines) if heading.fullmatch(each)), None)
    if start is None:
        return "\n".join([*lines, "", f"[{section}]", line]) + "\n"
    end = next((n for n in range(start + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    for pattern in (rf"\s*{key}\s*=.*", rf"#\s?{key}\s*=.*"):
        found = next((n for n in range(start + 1, end) if re.fullmatch(pattern, lines[n])), None)
        if found is not None:
            return "\n".join([*lines[:found], line, *lines[found + 1 :]]) + "\n"
    return "\n".join([*lines[: start + 1], line, *lines[start + 1 :]]) + "\n"


def _parsed(file: Path, text: str) -> dict[str, Any]:
    try:
        return read_toml(text)
    except NoToml as error:
        raise SettingsError(f"{file}: {error}") from None
