"""The restore of a backup, either of everything or of one company. The replaced files are kept.

First, every file is unpacked next to the data and compared with the manifest. It is also examined, unless a
verification has already examined this archive. Only after that are the files moved to their places, all or none
(`file_swap.py`). The previous files are moved to `replaced-<moment>`.
"""

import shlex
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.machine.private_files import new_private_folder
from wmsd.base.machine.regular_files import reason_of
from wmsd.base.machine.scratch_folders import in_use
from wmsd.data_folder.continue_numbers import RevokedAccess, keep_revoked, leap_ids
from wmsd.data_folder.disk_space import check_space
from wmsd.data_folder.file_swap import Rename, finish_swap, is_begun, replaced_folder, swap, with_sides
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.data_folder.new_epoch import Missing, begin_epoch
from wmsd.data_folder.numbers import NOTHING_KNOWN, Numbers, numbers_of, numbers_up_to
from wmsd.data_folder.platform_loss import UNKNOWN
from wmsd.db import migrations
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.maintenance.backups.archive import read_manifest
from wmsd.maintenance.backups.last_runs import read_record
from wmsd.maintenance.backups.manifest import KEYS, BackedUpFile, brings_back
from wmsd.maintenance.backups.platform_copy import put_keys, put_phrases
from wmsd.maintenance.backups.previous_installation import Installed, installation_before, later_marks
from wmsd.maintenance.backups.progress import Progress, Tell, silent
from wmsd.maintenance.backups.unpack import secrets_of, unpack_file, unpacked_differences
from wmsd.maintenance.backups.verify import examination_sentences
from wmsd.tenants.recovery.restore_note import note_restore

UNPACKED: Final = ".restoring"


class Restored(NamedTuple):
    replaced: Path | None
    """The folder with the previous files, or None if there were no files."""
    missing: dict[str, Missing]
    """What each company has lost, by code: its writes after the backup. Unknown losses are left out."""
    not_in_backup: list[str]
    """The files of companies that are not in the backup. The restore has moved them to the folder `replaced`."""
    shut_out: RevokedAccess
    """Access that was revoked after the backup, such as tokens. The restored data did not know this, so the
    restore has revoked the access again.
    """
    keys: str
    """How the installation got its keys: a key of `KEYS_FROM`."""
    access_unknown_after: str | None
    """The time of the backup if it is not known which access was revoked after it. Otherwise None."""


class Restore:
    """The restore of an archive into a data folder that no other process uses."""

    def __init__(
        self,
        archive: Path,
        data: DataFolder,
        passphrase: str | None = None,
        anyway: bool = False,
        new_keys: bool = False,
        nothing_after: bool = False,
    ) -> None:
        """Read the manifest of the archive. Raise StorageError if the file is not a backup.

        `anyway`: restore even if the examination finds problems. `new_keys`: create new keys, because the keys in
        the archive cannot be decrypted. `nothing_after`: the user says that nothing was written after the backup
        was created.
        """
        self.archive = archive
        self.manifest = read_manifest(archive)
        self._data = data
        self._passphrase = passphrase
        self.tell: Tell = silent
        self._anyway = anyway
        self._new_keys = new_keys
        self.nothing_after = nothing_after
        self._opened: Any = None
        """The decrypted keys of the backup, or None until they are decrypted."""
        self.replaced = replaced_folder()
        """The folder in the data folder for the replaced files."""
        self._done = 0

    @cached_property
    def _known(self) -> Installed | None:
        """The content of platform.db in the data folder, or None if it cannot be read. The first use reads it."""
        return installation_before(self._data)

    def _check_is_backup(self) -> None:
        """Raise StorageError if the archive exports a company that this installation does not have."""
        if self.manifest.company is None:
            return
        known = self._known
        if known is None and self._data.platform_file.exists():
            raise self._without_platform()
        here = known.codes if known is not None and known.installation == self.manifest.installation else {}
        if not any(file.company_id in here for file in self.manifest.files):
            codes = ", ".join(file.code for file in self.manifest.files if file.code)
            raise StorageError(
                f"{self.archive} is the archive of one company, {codes}, which is not in this installation now. "
                f"Nothing was changed. {brings_back(self.archive)}"
            )

    def _without_platform(self) -> StorageError:
        has_it = self.manifest.file(PLATFORM_FILE) is not None
        backup = shlex.quote(str(self.archive)) if has_it else UNKNOWN
        return StorageError(
            f"{self._data.platform_file} cannot be read, and a company needs it for its restore. First restore "
            f"only platform.db; the companies' files stay unchanged: wmsd backup restore {backup} --only-platform"
        )

    def check_everything(self) -> None:
        """Raise StorageError if this backup cannot replace the content of the folder."""
        self._check_is_backup()
        if self._known is not None and self._known.installation != self.manifest.installation:
            raise StorageError(
                f"{self.archive} is a backup of another installation than the one in {self._data.path}. Nothing "
                "was changed. Restore it into an empty folder (--data)."
            )
        if self.manifest.file(PLATFORM_FILE) is None:
            raise StorageError(
                f"{self.archive} has no {PLATFORM_FILE}: it can only restore a company (--company CODE)."
            )
        self._check(self.manifest.files)
        self._check_keys()

    def _check_keys(self) -> None:
        """Raise StorageError if the restore needs a passphrase or recovery phrase for the keys, and has none."""
        if not self.lacks_secret:
            return
        anew = "--new-keys generates new keys: then all users sign in again, and integrators need new tokens."
        if self.manifest.phrases:
            names = " or ".join(each.fingerprint for each in self.manifest.phrases)
            raise StorageError(
                f"The keys of the installation are in {self.archive}, encrypted with the recovery phrase "
                f"{names}. Nothing was changed. Type the phrase at a terminal, or name a file with the "
                f"phrase: --passphrase-file FILE. If the phrase is lost, {anew}"
            )
        raise StorageError(
            f"The keys of the installation are in {self.archive}, encrypted with a passphrase. Nothing was "
            "changed. Name the file with the passphrase: --passphrase-file FILE. If the passphrase is lost, "
            f"{anew}"
        )

    @property
    def lacks_secret(self) -> bool:
        """Whether the restore needs the passphrase or recovery phrase of the backup, and has none yet."""
        has_own = self._known is not None and self._known.keys["secrets"]
        return self.manifest.keys == "encrypted" and not (has_own or self._new_keys or self._passphrase)

    def open_with(self, secret: str) -> None:
        """Decrypt the keys with `secret`, a passphrase or a recovery phrase.

        Raise NotOpened if `secret` does not decrypt the keys, and StorageError if the keys are damaged.
        """
        self._opened = secrets_of(self.archive, self.manifest, KEYS, secret)
        self._passphrase = secret

    @property
    def puts_aside(self) -> bool:
        """Whether the restore moves existing files to another folder."""
        return any((self._data.path / file.path).exists() for file in self.manifest.files) or bool(
            self._files_not_in_backup()
        )

    def written_after(self, files: list[BackedUpFile]) -> dict[str, int]:
        """Return how many events each company wrote after the backup, by company code. Companies that wrote no
        events are left out.

        The numbers come from the files in the data folder, as far as these files can be read.
        """
        return {
            file.code: later
            for file in files
            if file.code and (later := self._numbers(file).newest_event - (file.figures.last_event or 0)) > 0
        }

    def _numbers(self, file: BackedUpFile) -> Numbers:
        """Return the last ids and document numbers that the company of `file` has used."""
        mark = None if self._known is None else self._known.marks.get(file.company_id or 0)
        return numbers_of(self._data.path / file.path, mark)

    def everything(self) -> Restored:
        """Restore all files of the backup.

        Raise StorageError or OSError if that fails. A failed restore changes nothing, except if the error is
        SwapUnfinished.
        """
        self.check_everything()
        with self._unpacked_into() as folder:
            for file in self.manifest.files:
                self._unpack(file, folder)
            later = later_marks(self.archive, self.manifest)
            missing = {
                file.code or file.path: lost
                for file in self.manifest.files
                if file.company_id is not None
                and (lost := self._begin_epoch(folder / file.path, file, later.get(file.company_id, ())))
            }
            keys = self._keys(folder / PLATFORM_FILE)
            shut_out = RevokedAccess({}, [], [])
            if self._known is not None:
                shut_out = keep_revoked(folder / PLATFORM_FILE, self._data.platform_file)
            elif not self.nothing_after:
                leap_ids(folder / PLATFORM_FILE)
            unknown_after = self._note_restore(folder / PLATFORM_FILE, shut_out, keys)
            strays = self._files_not_in_backup()
            renames = [
                *(each for path in strays for each in self._aside(path)),
                *(each for file in self.manifest.files for each in self._put(file)),
            ]
            swap(self._data.path, renames)
        kept = self.replaced_files()
        return Restored(kept, missing, strays, shut_out, keys, unknown_after)

    def company_file(self, code: str) -> BackedUpFile:
        """Return the entry of the company with this code. Raise StorageError if it cannot be restored."""
        file = self.manifest.file_of(code)
        if file is None:
            there = ", ".join(each.code for each in self.manifest.files if each.code) or "no company"
            raise StorageError(f"{self.archive} has no company {code}. The archive has {there}.")
        known = self._known
        if known is None:
            raise self._without_platform()
        self._check_is_backup()
        if known.installation != self.manifest.installation:
            raise StorageError(
                f"{self.archive} is a backup of another installation than the one in {self._data.path}."
            )
        if file.company_id not in known.codes:
            other = next((each for each, own in known.codes.items() if own == code), None)
            namesake = (
                "" if other is None else f"The company with this code now (id {other}) is a different company. "
            )
            raise StorageError(
                f"There is no company {code} (id {file.company_id}) in this installation now. {namesake}Import "
                "the archive that its deletion wrote (`wmsd company import`). Or restore this backup into an "
                "empty folder (--data), and export the company there (`wmsd company export`)."
            )
        self._check([file])
        return file

    @contextmanager
    def company_unpacked(self, file: BackedUpFile) -> Iterator[str]:
        """Unpack and examine a company's file, so that it can be moved to its place.

        Yield the path of the unpacked file, relative to the data folder.
        """
        with self._unpacked_into() as folder:
            self._unpack(file, folder)
            yield str((folder / file.path).relative_to(self._data.path))

    def replaced_files(self) -> Path | None:
        """Return the folder with the previous files, or None if there were no files."""
        folder = self._data.path / self.replaced
        return folder if folder.exists() else None

    def _check(self, files: list[BackedUpFile]) -> None:
        """Raise StorageError if a file has the schema of a newer program, or if the disk has too little space."""
        for file in files:
            kind = migrations.PLATFORM if file.company_id is None else migrations.COMPANY
            newest = len(kind.scripts())
            if file.figures.schema_version > newest:
                raise StorageError(
                    f"{self.archive} was created by wmsd {self.manifest.wmsd}, and {file.path} in it has "
                    f"schema {file.figures.schema_version}; this program supports schemas up to {newest}. "
                    "Nothing was changed. Restore the backup with that version or a newer version."
                )
        check_space(self._data.path, sum(file.bytes for file in files), self.archive)

    @contextmanager
    def _unpacked_into(self) -> Iterator[Path]:
        """Create a folder in the data folder for the unpacked files, and remove it at the end.

        First finish an earlier restore that was interrupted. Then remove the unpacked files of a restore that was
        killed.
        """
        folder = self._data.path / UNPACKED
        finish_swap(self._data.path)  # an earlier restore may still need its unpacked files
        shutil.rmtree(folder, ignore_errors=True)
        try:
            new_private_folder(folder)
            new_private_folder(folder / "companies")
            with in_use(folder):
                yield folder
        except OSError as error:
            raise StorageError(
                f"{self._data.path} cannot be written: {reason_of(error)}. Nothing was changed."
            ) from error
        finally:
            if not is_begun(self._data.path):
                shutil.rmtree(folder, ignore_errors=True)

    def _unpack(self, file: BackedUpFile, folder: Path) -> None:
        name, target = file.code or PLATFORM_FILE, folder / file.path
        total = sum(each.bytes for each in self.manifest.files)
        self.tell(Progress(name, self._done, total))
        try:
            unpack_file(self.archive, file, target)
        except StorageError as error:
            raise StorageError(
                f"{error} {name} cannot be restored from this backup. Nothing was changed. wmsd backup "
                "verify lists everything that cannot be restored. Restore the other companies one by one "
                "(--company), or restore another backup."
            ) from None
        wrong = [f"{name}: {each}." for each in unpacked_differences(file, target)]
        if wrong:
            raise StorageError(f"{self.archive} is damaged. {' '.join(wrong)} Nothing was changed.")
        is_sound = self.manifest.began_at in read_record(self._data.path).sound
        found = [] if is_sound or self._anyway else examination_sentences(self.manifest, file, target)
        if found:
            raise StorageError(
                f"{name} in {self.archive} has problems: {' '.join(found)} Nothing was changed. Restore "
                "another backup, or restore this backup with --anyway."
            )
        self._done += file.bytes
        self.tell(Progress(name, self._done, total))

    def _keys(self, platform: Path) -> str:
        """Put the keys into the restored platform.db. Return where the keys come from, as a key of `KEYS_FROM`.

        If the replaced platform.db can be read, its keys are used. The keys in the backup are older: some of them
        may have been revoked, and must not become valid again. Raise StorageError if the passphrase is wrong.
        """
        known = self._known
        if known is not None and known.keys["secrets"]:
            put_keys(platform, known.keys)
            if known.phrases:
                put_phrases(platform, known.phrases)
            return "replaced"
        if self.manifest.keys == "encrypted" and self._passphrase is not None:
            if self._opened is None:
                self.open_with(self._passphrase)
            put_keys(platform, self._opened)
            return "backup"
        if self.manifest.keys == "encrypted":
            return "renewed"
        return "sealed" if self.manifest.keys == "sealed" else "anew"

    def _begin_epoch(self, restored: Path, file: BackedUpFile, later: Iterable[HighWaterMark]) -> Missing | None:
        numbers = self._numbers(file)
        for each in later:
            numbers = numbers_up_to(numbers, each)
        if numbers == NOTHING_KNOWN and self.nothing_after:
            numbers = numbers._replace(is_complete=True)
        return begin_epoch(restored, "restore", numbers, timestamps.from_text(self.manifest.began_at))

    def _note_restore(self, platform: Path, shut_out: RevokedAccess, keys: str) -> str | None:
        """Record the restore in the restored platform.db. When wmsd first opens this file, it creates a list of
        tasks for the admin.

        Return the time of the backup if it is not known which access was revoked after the backup. Otherwise
        return None.
        """
        if self._known is not None and shut_out.is_known:
            return note_restore(platform, self._data.platform_file, self.manifest.began_at)
        if self._known is None and self.nothing_after:
            return None if keys in ("backup", "sealed") else note_restore(platform, None, None)
        return note_restore(platform, None, self.manifest.began_at)

    def _files_not_in_backup(self) -> list[str]:
        """Return the companies' files that are in the data folder but not in the backup. Leave out companies whose
        files the backup could not read: their files stay in their places.
        """
        known = {file.path for file in self.manifest.files}
        known |= {f"companies/{each.company_id}.db" for each in self.manifest.left_out}
        there = [f"companies/{path.name}" for path in sorted(self._data.companies.glob("*.db"))]
        return [name for name in there if name not in known]

    def _aside(self, name: str) -> list[Rename]:
        return with_sides(self._data.path, name, f"{self.replaced}/{name}")

    def _put(self, file: BackedUpFile) -> list[Rename]:
        return [*self._aside(file.path), Rename(f"{UNPACKED}/{file.path}", file.path)]


def put_company(
    data: Path, file: str, unpacked: str, replaced: str, as_of: str, mark: HighWaterMark | None
) -> Missing | None:
    """Replace a company's file by an unpacked file from a backup. No process may have the replaced file open.

    `file`, `unpacked` and the folder `replaced` are relative to `data`. `as_of` is the time of the backup. `mark`
    is the stored high-water mark of the company's file.

    Return what the company wrote after `as_of`, or None if that is not known. Raise StorageError, sqlite3.Error or
    OSError if the file cannot be replaced.
    """
    known = numbers_of(data / file, mark)
    missing = begin_epoch(data / unpacked, "restore", known, timestamps.from_text(as_of))
    swap(data, [*with_sides(data, file, f"{replaced}/{file}"), Rename(unpacked, file)])
    return missing
