"""Every setting, with its default, its check and its comment; a file for each group of sections.

A flag overrides the environment (`WMSD_SECTION_KEY`), the environment overrides the TOML file, and that overrides
the default. `config.example.toml` is made from these declarations, and a test compares them.
"""

from wmsd.settings.all_settings import Settings, declared, sections
from wmsd.settings.partial_settings import salvaged
from wmsd.settings.paths import INSIDE, Layer, RelativePath, default_backups, from_folder, relative_paths
from wmsd.settings.sections.fields import MEGABYTE, ReadEachTime, Section, SettingsError
from wmsd.settings.sections.log import Alerts, Log, Metrics
from wmsd.settings.sections.server import Limits, Server
from wmsd.settings.sections.sessions import Sessions, SignOn, Tokens
from wmsd.settings.sections.storage import Backup, Imports, Replica, Requests, Storage
from wmsd.settings.sections.webhooks import Returns, Webhooks
from wmsd.settings.sources import ENVIRONMENT, as_set, layers_of, load, settings_of
from wmsd.settings.toml_writer import as_toml, as_written, example, toml

__all__ = [
    "ENVIRONMENT",
    "INSIDE",
    "MEGABYTE",
    "Alerts",
    "Backup",
    "Imports",
    "Layer",
    "Limits",
    "Log",
    "Metrics",
    "ReadEachTime",
    "RelativePath",
    "Replica",
    "Requests",
    "Returns",
    "Section",
    "Server",
    "Sessions",
    "Settings",
    "SettingsError",
    "SignOn",
    "Storage",
    "Tokens",
    "Webhooks",
    "as_set",
    "as_toml",
    "as_written",
    "declared",
    "default_backups",
    "example",
    "from_folder",
    "layers_of",
    "load",
    "relative_paths",
    "salvaged",
    "sections",
    "settings_of",
    "toml",
]
