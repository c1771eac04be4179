"""The verification of a backup: it unpacks every file and examines it with the checks of `wmsd doctor`."""

import shutil
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base.machine import scratch_folders
from wmsd.base.machine.private_files import new_private_folder
from wmsd.data_folder.disk_space import check_space
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.db import migrations
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner
from wmsd.db.files.integrity import UNREADABLE, opened_to_examine
from wmsd.maintenance.backups.archive import NotRead, read_manifest
from wmsd.maintenance.backups.encryption import may_open
from wmsd.maintenance.backups.manifest import CREDENTIALS, KEYS, BackedUpFile, Manifest
from wmsd.maintenance.backups.progress import Progress, Tell
from wmsd.maintenance.backups.unpack import (
    NotWritten,
    check_secrets,
    secrets_of,
    unpack_file,
    unpacked_differences,
)
from wmsd.maintenance.keys.passphrases import NotOpened

SCRATCH: Final = ".proving"


class Proof(NamedTuple):
    """The result of a verification.

    `problems` contains sentences, and is empty if the backup can be restored. `has_opened` is False if the
    passphrase or recovery phrase did not decrypt the secrets. In this case, the archive may still be good: another
    passphrase or a faster machine may decrypt the secrets.
    """

    manifest: Manifest
    seconds: float
    problems: list[str]
    has_opened: bool = True
    are_keys_opened: bool = False
    """Whether the secrets were decrypted with a passphrase or recovery phrase. If none was given, only the form of
    the secrets was checked.
    """

    @property
    def is_whole(self) -> bool | None:
        """Whether the backup can be restored completely. None if the only problem is that the secrets were not
        decrypted.
        """
        if not self.problems:
            return True
        return None if not self.has_opened and len(self.problems) == 1 else False


def prove(archive: Path, scratch_in: Path, passphrase: str | None, tell: Tell) -> Proof:
    """Unpack each file into a scratch folder, examine it, and compare its figures with the manifest.

    Files are unpacked one at a time, so the disk needs space only for the largest file. Damage does not raise an
    error: it is in the `problems` of the result. Raise OSError if the scratch folder cannot be used. Raise
    StorageError if the archive has no manifest or cannot be read, or if the disk is too full.
    """
    began = time.monotonic()
    manifest = read_manifest(archive)
    check_space(scratch_in, max((file.bytes for file in manifest.files), default=0), archive)
    problems = [f"{each.code} is not in the backup: {each.reason}" for each in manifest.left_out]
    if manifest.file(PLATFORM_FILE) is None and manifest.company is None:
        problems.append(f"{PLATFORM_FILE} is not in the backup.")
    if passphrase is not None and not may_open(manifest, passphrase):
        passphrase = None
    not_opened = _why_not_opened(archive, manifest, passphrase)
    with closing(files_to_unpack(manifest, scratch_in, tell)) as files:
        for file, target in files:
            problems += _problems_of(archive, manifest, file, target)
    if not_opened is not None:
        problems.append(str(not_opened))
    are_opened = manifest.keys == "encrypted" and passphrase is not None and not_opened is None
    is_known = not isinstance(not_opened, NotOpened)
    return Proof(manifest, time.monotonic() - began, problems, is_known, are_opened)


def files_to_unpack(
    manifest: Manifest, scratch_in: Path, tell: Tell
) -> Generator[tuple[BackedUpFile, Path], None, None]:
    """Yield each file of the archive, with a path in a scratch folder. The caller unpacks the file to this path.

    The generator deletes the unpacked file before it yields the next one. Close the generator at the end, so that
    other processes may use the folder. Raise StorageError if another process uses the folder, and OSError if the
    folder cannot be written.
    """
    done = 0
    with _scratch_folder(scratch_in) as scratch:
        for file in manifest.files:
            tell(Progress(file.code or PLATFORM_FILE, done, manifest.bytes))
            yield file, scratch / "file.db"
            done += file.bytes
            for remains in scratch.iterdir():
                remains.unlink()
        tell(Progress("", done, manifest.bytes))


@contextmanager
def _scratch_folder(parent: Path) -> Iterator[Path]:
    """Create an empty folder that is removed at the end. First remove what a killed process has left.

    Raise StorageError if another process uses the folder.
    """
    path = parent / SCRATCH
    with suppress(FileExistsError):
        new_private_folder(path)
    with scratch_folders.unused(path.resolve()) as is_unused:  # the path may be a link to another disk
        if not is_unused:
            raise StorageError(
                f"Another backup is being verified in {parent}. Wait until the other verification is finished."
            )
        for remains in path.iterdir():
            remains.unlink()
        yield path
        shutil.rmtree(path, ignore_errors=True)


def _why_not_opened(archive: Path, manifest: Manifest, passphrase: str | None) -> StorageError | None:
    """Return the error that prevents the secrets from being decrypted, or None if they can be decrypted.

    The error is NotOpened, or another StorageError if the secrets are damaged. If `passphrase` is None, only check
    the form of the secrets. Raise NotRead if the archive cannot be read.
    """
    if manifest.keys != "encrypted":
        return None
    name = KEYS if manifest.company is None else CREDENTIALS
    try:
        if passphrase is None:
            check_secrets(archive, manifest, name)
        else:
            secrets_of(archive, manifest, name, passphrase)
    except NotRead:
        raise
    except StorageError as error:
        return error
    return None


def _problems_of(archive: Path, manifest: Manifest, file: BackedUpFile, target: Path) -> list[str]:
    name = file.code or PLATFORM_FILE
    try:
        unpack_file(archive, file, target)
        found = [f"{name}: {difference}." for difference in unpacked_differences(file, target)]
        return found + [f"{name}: {finding}" for finding in examination_sentences(manifest, file, target)]
    except (NotRead, NotWritten):
        raise
    except (StorageError, *UNREADABLE) as error:
        if isinstance(error, OSError) and not isinstance(error, StorageError):
            raise
        return [f"{name}: {' '.join(str(error).split())}"]


def examination_sentences(manifest: Manifest, file: BackedUpFile, target: Path) -> list[str]:
    """Migrate an unpacked file, as a restore does. Return the doctor's findings in the file, as sentences."""
    from wmsd.maintenance.file_checks.company_checks import (  # imported here: a start does not need it
        examine,
        examine_file,
    )
    from wmsd.maintenance.file_checks.sentences import finding_sentences

    if file.company_id is None:
        with opened_to_examine(target, migrations.PLATFORM) as tx:
            return finding_sentences(examine_file(tx))
    owner = Owner(manifest.installation, file.company_id, file.code or "")
    with opened_to_examine(target, migrations.COMPANY, owner) as tx:
        return finding_sentences(examine(tx))
