"""Collects the known facts about the installation that a restore replaces. They come from its platform.db, and
from later backups in the folder of the archive.
"""

from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.platform_facts import read_platform
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.maintenance.backups.archive import readable_manifests
from wmsd.maintenance.backups.manifest import Manifest
from wmsd.maintenance.backups.platform_copy import KeyRows, read_keys
from wmsd.tenants.companies import store as companies
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

MOST_READ: Final = 100


class Installed(NamedTuple):
    """The content of the platform.db in the data folder."""

    installation: str
    codes: dict[int, str]
    keys: KeyRows
    marks: dict[int, HighWaterMark]
    phrases: list[KnownPhrase]
    """The recovery phrases, the oldest first."""


def installation_before(data: DataFolder) -> Installed | None:
    """Return the content of the platform.db in the data folder, or None if the file cannot be read. Raise no
    error.
    """
    return read_platform(
        data,
        lambda tx: Installed(
            companies.installation(tx),
            companies.codes(tx),
            read_keys(tx),
            companies.marks(tx),
            recovery_phrases.every(tx)[::-1],
        ),
    )


def later_marks(archive: Path, manifest: Manifest) -> dict[int | None, list[HighWaterMark]]:
    """Return the high-water marks of the companies' files in later backups, by company id.

    These backups are in the folder of `archive`, come from the same installation, and are newer than the one with
    `manifest`. Skip backups that cannot be read.
    """
    files = archive.absolute().parent.glob("*.tar.gz")
    newest = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[:MOST_READ]
    marks: dict[int | None, list[HighWaterMark]] = defaultdict(list)
    for _, later in readable_manifests(newest):
        if later.installation == manifest.installation and later.began_at > manifest.began_at:
            for file in later.files:
                mark = HighWaterMark(file.figures.last_change or 0, file.figures.last_event or 0)
                marks[file.company_id].append(mark)
    return marks
