"""What is in the place of a restore before it: the installation that it replaces."""

from contextlib import closing
from typing import NamedTuple

from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.held_states import hold_state
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.sqlite import sqlite3
from wmsd.maintenance.backups.platform_copy import KeyRows, read_keys
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase


class Installed(NamedTuple):
    """What the platform.db in the data folder says, if it can be read."""

    installation: str
    codes: dict[int, str]
    keys: KeyRows
    marks: dict[int, HighWaterMark]
    phrases: list[KnownPhrase]
    """The recovery phrases, the oldest first."""


def installation_before(data: DataFolder) -> Installed | None:
    """Raises nothing: a file that cannot be read says nothing."""
    if not data.platform_file.exists():
        return None
    try:
        with closing(hold_state(data.platform_file)) as state:
            return state.read(
                lambda tx: Installed(
                    companies.installation(tx),
                    companies.codes(tx),
                    read_keys(tx),
                    companies.marks(tx),
                    recovery_phrases.every(tx)[::-1],
                )
            )
    except (StorageError, sqlite3.Error):
        return None
