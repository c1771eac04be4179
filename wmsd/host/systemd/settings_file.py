"""Sets values in the text of a configuration file, and leaves everything else of it as people wrote it."""

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
"""Settings that name a folder which the server makes, and what the folders of a service are called."""
OF_PACKAGE: Final = f"""\
# Settings of {NAME}. The guide lists all of them, at /docs/settings; `wmsd config init FILE` writes them down.
# After a change: wmsd config check --config {CONFIG}, then systemctl restart {NAME}

"""

Values = Mapping[tuple[str, str], str]


def read_config() -> str | None:
    """The text of the file; None when there is none. Raises ServiceError and OSError."""
    try:
        return CONFIG.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ServiceError(f"{CONFIG}: this is not UTF-8 text.") from None


def settings_from(file: Path, text: str) -> Settings:
    """The settings as the service finds them: of the file alone. Raises SettingsError."""
    return settings_of([Layer("file", str(file), _parsed(file, text), text)])


def with_folders(file: Path, text: str, values: Values) -> str:
    """The text with these values, and with absolute folders. Raises SettingsError and ServiceError."""
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
    """Raises ServiceError when the text is written in a way that cannot be changed line by line."""
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
        raise ServiceError(f"{file} is written in a way that cannot be changed from here. Set in it: {names}.")
    return text


def of_package() -> str:
    """The configuration file that the Debian package brings: short, so that a new version seldom changes it."""
    lines = [f"[{section}]\n{key} = {as_written(str(STATE / name))}\n" for (section, key), name in FOLDERS.items()]
    return OF_PACKAGE + "\n".join(lines)


def _with_line(text: str, section: str, key: str, line: str) -> str:
    """In place of the line that sets it, or of the one that shows its default; else first in its section."""
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
