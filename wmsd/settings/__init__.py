"""Every setting, with its default, its check and its comment.

A flag overrides the environment (`WMSD_SECTION_KEY`), the environment overrides the TOML file, and that overrides
the default. `config.example.toml` is made from these declarations, and a test compares them.
"""

from wmsd.settings.all_settings import Settings, declared, sections
from wmsd.settings.partial_settings import salvaged
from wmsd.settings.paths import INSIDE, Layer, RelativePath, default_backups, from_folder, relative_paths
from wmsd.settings.sections.alerts import Alerts
from wmsd.settings.sections.backup import Backup
from wmsd.settings.sections.fields import MEGABYTE, ReadEachTime, Section, SettingsError
from wmsd.settings.sections.imports import Imports
from wmsd.settings.sections.limits import Limits
from wmsd.settings.sections.log import Log
from wmsd.settings.sections.metrics import Metrics
from wmsd.settings.sections.replica import Replica
from wmsd.settings.sections.requests import Requests
from wmsd.settings.sections.returns import Returns
from wmsd.settings.sections.server import Server
from wmsd.settings.sections.sessions import Sessions
from wmsd.settings.sections.sign_on import SignOn
from wmsd.settings.sections.storage import Storage
from wmsd.settings.sections.tokens import Tokens
from wmsd.settings.sections.webhooks import Webhooks
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
