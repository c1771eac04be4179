"""Copies of database files before their migration, in the folder `before-<version>` of the data folder."""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from wmsd import __version__
from wmsd.base.machine.private_files import new_durable, new_private_folder
from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.disk_space import check_space
from wmsd.data_folder.file_swap import Rename, replaced_folder, swap, sync, with_sides
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import hold_snapshot
from wmsd.db.engine.sqlite import bytes_on_disk
from wmsd.db.engine.state_bytes import StateBytes
from wmsd.db.migrations import COMPANY, PLATFORM, version_of

LOG = logging.getLogger("wmsd.data")
NAME: Final = "before-"
COPY_AND_LOG: Final = 2
"""How many times the file's size a migration needs as free space: once for the copy, and once for the write-ahead
log.
"""


class KeptCopies:
    def __init__(self, data: DataFolder, version: str = __version__) -> None:
        """Prepare the copies. `version` is the version of the program that migrates."""
        self._data = data.path
        self._version = version
        self.name = f"{NAME}{version}"
        self.path = self._data / self.name

    def keep(self, path: Path) -> None:
        """Store a copy of the data folder's file `path` on the disk. No process may write the file meanwhile.

        Raise StorageError or sqlite3.Error if that fails. The file itself is not changed.
        """
        target = self.path / path.relative_to(self._data)
        unfinished = target.with_name(f"{target.name}.new")
        check_space(self._data, COPY_AND_LOG * bytes_on_disk(path))
        try:
            for folder in (self.path, target.parent):
                if not folder.exists():
                    new_private_folder(folder)
            unfinished.unlink(missing_ok=True)
            _copy(path, unfinished)
            unfinished.rename(target)  # an existing copy is from an earlier attempt
            for folder in (target.parent, self.path, self._data):
                sync(folder)
        except OSError as error:
            raise StorageError(
                f"{path} was not migrated, because wmsd could not store a copy of it in {self.path} first: "
                f"{reason_of(error)}."
            ) from error
        LOG.info("migrating %s for wmsd %s; the previous file is stored as %s", path, self._version, target)

    def put_back(self) -> list[Path]:
        """Put the copies of all migrated files back in place, and return the paths of these files. The migrated
        files are moved to a folder `replaced-…`.

        No other process may use the data folder. Raise StorageError or sqlite3.Error if that fails.
        """
        migrated = [name for name in self._names() if self._is_migrated(name)]
        replaced = replaced_folder()
        try:
            swap(
                self._data,
                [
                    rename
                    for name in migrated
                    for rename in (
                        *with_sides(self._data, name, f"{replaced}/{name}"),
                        Rename(f"{self.name}/{name}", name),
                    )
                ],
            )
        except OSError as error:
            raise StorageError(f"The files in {self.path} cannot be put back: {reason_of(error)}.") from error
        return [self._data / name for name in migrated]

    def _names(self) -> Iterator[str]:
        for path in sorted(self.path.rglob("*.db")):
            yield str(path.relative_to(self.path))

    def _is_migrated(self, name: str) -> bool:
        path = self._data / name
        kind = PLATFORM if path == self._data / PLATFORM_FILE else COMPANY
        return path.exists() and version_of(path) > len(kind.scripts())


def _copy(path: Path, target: Path) -> None:
    with closing(StateBytes(path)) as content, closing(hold_snapshot(path)) as state, new_durable(target) as file:
        content.begin(state.extent)
        for piece in content:
            file.write(piece)
