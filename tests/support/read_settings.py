"""Settings as a program reads them, from a file and an environment that a test provides."""

from collections.abc import Mapping
from pathlib import Path

from wmsd.settings.all_settings import Settings
from wmsd.settings.sources import layers_of, settings_of


def load_settings(file: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Load the settings. Raise SettingsError if a setting is invalid."""
    return settings_of(layers_of(file, None, environment))
