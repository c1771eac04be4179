"""The trial run of an upgrade. The new program unpacks the files of a backup into a scratch folder, one after the
other. It migrates and examines each file.
"""

import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from wmsd import __version__
from wmsd.base.machine.json_file import StoredModel
from wmsd.data_folder.disk_space import check_space
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.db import migrations
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import read_state
from wmsd.db.files.integrity import UNREADABLE
from wmsd.maintenance.backups.archive import read_manifest
from wmsd.maintenance.backups.file_figures import Figures, read_figures
from wmsd.maintenance.backups.manifest import BackedUpFile, Manifest
from wmsd.maintenance.backups.progress import Tell
from wmsd.maintenance.backups.unpack import unpack_file, unpacked_differences
from wmsd.maintenance.backups.verify import examination_sentences, files_to_unpack
from wmsd.maintenance.upgrades.gaining_tokens import gaining_tokens
from wmsd.maintenance.upgrades.kept_copies import COPY_AND_LOG


class Change(BaseModel):
    """A figure that the upgrade changes, such as the number of rows in a table. `before` and `after` are its sums
    over all files, before and after the upgrade.
    """

    what: str
    before: int
    after: int


class Rehearsal(StoredModel):
    version: str
    files: int
    bytes: int
    migrated: int
    """How many files have to be migrated."""
    seconds: float
    """How many seconds the migration took."""
    slowest: float
    """How many seconds the slowest file took."""
    changes: list[Change]
    problems: list[str]
    """The problems after the upgrade, as sentences."""
    gaining_tokens: list[str] = []
    """Lines about the tokens that gain abilities in the upgrade."""


def rehearse(archive: Path, scratch_in: Path, tell: Tell) -> Rehearsal:
    """Migrate a copy of every file in the archive, and report the result.

    Raise OSError if the scratch folder cannot be used. Raise StorageError if the archive has no manifest, if the
    disk is too full, or if another process uses the scratch folder.
    """
    manifest = read_manifest(archive)
    check_space(scratch_in, (1 + COPY_AND_LOG) * max((file.bytes for file in manifest.files), default=0))
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    seconds: list[float] = []
    problems: list[str] = []
    gaining: list[str] = []
    with closing(files_to_unpack(manifest, scratch_in, tell)) as files:
        for file, target in files:
            try:
                took, figures = _try(archive, manifest, file, target, problems)
                if file.company_id is None:
                    gaining = read_state(target, partial(gaining_tokens, from_version=manifest.wmsd))
            except (StorageError, *UNREADABLE) as error:
                if isinstance(error, OSError):
                    raise
                problems.append(f"{file.code or PLATFORM_FILE}: {' '.join(str(error).split())}")
            else:
                if took is not None:
                    seconds.append(took)
                    before.update(_flat(file.figures))
                    after.update(_flat(figures))
    return Rehearsal(
        version=__version__,
        files=len(manifest.files),
        bytes=manifest.bytes,
        migrated=len(seconds),
        seconds=round(sum(seconds), 3),
        slowest=round(max(seconds, default=0.0), 3),
        changes=[
            Change(what=what, before=before[what], after=after[what])
            for what in sorted({*before, *after})
            if before[what] != after[what]
        ],
        problems=problems,
        gaining_tokens=gaining,
    )


def _try(
    archive: Path, manifest: Manifest, file: BackedUpFile, target: Path, problems: list[str]
) -> tuple[float | None, Figures]:
    """Unpack, migrate and examine one file. Add a sentence to `problems` for each problem.

    Return two values: how many seconds the migration took, or None if the file was already up to date, and the
    file's figures after the migration.
    """
    name = file.code or PLATFORM_FILE
    unpack_file(archive, file, target)
    problems += [f"{name}: {difference}." for difference in unpacked_differences(file, target)]
    kind = migrations.PLATFORM if file.company_id is None else migrations.COMPANY
    took = None
    if file.figures.schema_version < len(kind.scripts()):
        began = time.monotonic()
        migrations.migrate(target, kind)
        took = time.monotonic() - began
    figures = read_state(target, read_figures)
    problems += [f"{name}: {finding}" for finding in examination_sentences(manifest, file, target)]
    return took, figures


def _flat(figures: Figures) -> dict[str, int]:
    """Return the figures whose changes are reported: the numbers of rows, and the sums."""
    return {
        **{f"rows of {name}": rows for name, rows in figures.rows.items()},
        **{f"sum of {name}": total for name, total in figures.sums.items()},
    }
