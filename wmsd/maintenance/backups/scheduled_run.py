"""The scheduled backup work: create a backup, verify the newest one, delete old ones, and run the command in the
settings.
"""

import logging
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from wmsd.base import timestamps
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import beside_a_server
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import sqlite3
from wmsd.maintenance.backups.archive import scheduled_archives
from wmsd.maintenance.backups.create import Creation, Made
from wmsd.maintenance.backups.encryption import said_of
from wmsd.maintenance.backups.file_snapshots import source_of
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import (
    BackupRecord,
    FailedBackup,
    MadeBackup,
    VerifiedBackup,
    change_record,
    here,
    read_record,
)
from wmsd.maintenance.backups.other_server import SAYS, between, other_server_of
from wmsd.maintenance.backups.progress import Tell
from wmsd.maintenance.backups.retention import backups_to_delete
from wmsd.maintenance.backups.schedule import is_backup_due, is_proof_due_now
from wmsd.maintenance.backups.verify import Proof, prove
from wmsd.maintenance.keys.passphrases import passphrase_of_settings
from wmsd.settings.sections.backup import Backup

LOG = logging.getLogger("wmsd.backup")
AFTER_SECONDS: Final = 3600.0
ARCHIVE: Final = "ARCHIVE"
"""The name of the environment variable in which the command after the backup finds the path of the archive."""


class Scheduled:
    """One run of the scheduled work. If `now` is True, create and verify a backup even if none is due.

    `telling` gets the name of a step, and returns the function that reports the progress of this step.
    """

    def __init__(self, settings: Backup, data: DataFolder, now: bool, telling: Callable[[str], Tell]) -> None:
        self._settings = settings
        self._data = data
        self._folder = BackupFolder(Path(settings.folder))
        self._now = now
        self._telling = telling

    def run(self) -> BackupRecord:
        """Do the work that is due, and return the stored record. Errors are recorded, not raised."""
        failed = None
        try:
            self._do()
        except (StorageError, sqlite3.Error, OSError) as error:
            sentence = " ".join(str(error).split())
            LOG.error("the scheduled backup failed: %s", sentence)
            failed = FailedBackup(at=_now(), error=sentence)
        return change_record(self._data.path, lambda record: record.model_copy(update={"failed": failed}))

    def _do(self) -> None:
        made, record = None, read_record(self._data.path)
        if self._now or is_backup_due(self._settings, record):
            before = record.made
            made = self._make()
            noted = _as_made(made, record.made)
            other = between(self._folder, record, None if before is None else Path(before.path), made.path)
            record = change_record(
                self._data.path, lambda known: known.model_copy(update={"made": noted, "other_server": other})
            )
            if (found := other_server_of(record)) is not None:
                LOG.error("%s", SAYS.format(archive=found.archive))
            LOG.info("created the backup %s: %d bytes, in %.1f s", made.path, made.bytes, made.manifest.seconds)
        last = record.there(self._settings).made
        if last is not None and (self._now or is_proof_due_now(self._settings, record)):
            self._prove(Path(last.path))
        self._delete_old(read_record(self._data.path))
        if made is not None:
            self._follow(made)

    def _make(self) -> Made:
        with beside_a_server(self._data) as loan:
            source, passphrase = source_of(self._data, loan), passphrase_of_settings(self._settings)
            tell = self._telling("copying")
            return Creation(self._data, source, self._folder, passphrase, tell, by_schedule=True).make()

    def _prove(self, archive: Path) -> None:
        passphrase, tell = passphrase_of_settings(self._settings), self._telling("proving")
        proof: Proof = prove(archive, self._data.path, passphrase, tell)
        for problem in proof.problems:
            LOG.error("%s cannot be restored completely: %s", archive, problem)
        if not proof.problems:
            LOG.info("%s can be restored: verified in %.1f s", archive, proof.seconds)
        change_record(self._data.path, partial(with_last_proof, archive=archive, proof=proof, directory=here()))

    def _delete_old(self, record: BackupRecord) -> None:
        """Delete old scheduled backups of this installation. Backups that cannot be read stay."""
        own = {} if record.made is None else scheduled_archives(self._folder.archives(), record.made.installation)
        for path in backups_to_delete(own, record, self._settings.keep, datetime.now(UTC)):
            path.unlink()
            LOG.info("deleted the old backup %s, because enough newer backups exist", path)

    def _follow(self, made: Made) -> None:
        """Run the command in the setting backup.after, if there is one. Raise StorageError if the command
        fails.
        """
        if not self._settings.after:
            return
        command = ["/bin/sh", "-c", self._settings.after]
        try:
            done = subprocess.run(  # noqa: S603  (the platform admin's own command)
                command,
                env={**os.environ, ARCHIVE: str(made.path.resolve())},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=AFTER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise StorageError(
                f"The command after the backup (backup.after) was stopped after {AFTER_SECONDS:.0f} s."
            ) from None
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise StorageError(
                f"The command after the backup (backup.after) ended with exit status {done.returncode}: {last}"
            )


def with_last_proof(record: BackupRecord, archive: Path, proof: Proof, directory: str | None) -> BackupRecord:
    """Return `record` with the result `proof` of the verification of `archive`.

    `directory` is the working directory of the schedule.
    """
    proven = VerifiedBackup(
        at=_now(),
        path=str(archive.absolute()),
        seconds=round(proof.seconds, 1),
        directory=directory,
        problems=proof.problems,
        keys=said_of(proof.manifest),
    )
    known = record.model_copy(update={"proven": proven})
    return known.with_finding(proof.manifest.began_at, proof.is_whole)


def _as_made(made: Made, before: MadeBackup | None) -> MadeBackup:
    goes_on = before is not None and Path(before.path).parent == made.path.absolute().parent
    return MadeBackup(
        at=made.manifest.began_at,
        path=str(made.path.absolute()),
        bytes=made.bytes,
        seconds=made.manifest.seconds,
        installation=made.manifest.installation,
        directory=before.directory if before is not None and goes_on else here(),
        left_out=[each.code for each in made.manifest.left_out],
    )


def _now() -> str:
    return timestamps.to_text(datetime.now(UTC))
