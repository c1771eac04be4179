"""The executable in use, its new version in an upgrade, and its previous version."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.file_swap import sync
from wmsd.db.engine.failures import StorageError
from wmsd.host.own_program import packing_form

PIECE_BYTES: Final = 1024 * 1024
LARGEST_BYTES: Final = 1024 * 1024 * 1024


class ProgramFile:
    """The path of the executable, and the paths of its new and previous versions. A method that fails raises
    StorageError; only `sync` raises OSError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.new = path.with_name(f"{path.name}.new")
        self.previous = path.with_name(f"{path.name}.previous")

    def take(self, source: Path) -> str:
        """Copy the new program `source` next to the present one, and return the SHA-256 of the copy.

        Only the copy is checked and later run. So it does no harm if `source` changes after this call.
        """
        digest = hashlib.sha256()
        try:
            if not source.is_file():
                raise StorageError(f"{source} is not a file.")
            if source.stat().st_size > LARGEST_BYTES:
                raise StorageError(f"{source} is too large to be a wmsd.")
            self.new.unlink(missing_ok=True)
            with source.open("rb") as content, self.new.open("xb") as file:
                os.fchmod(file.fileno(), 0o700)
                while piece := content.read(PIECE_BYTES):
                    digest.update(piece)
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(
                f"{source} cannot be copied to {self.new}: {reason_of(error)}. Run this command as a user "
                "who may write there."
            ) from None
        return digest.hexdigest()

    def put_new(self) -> None:
        """Replace the present program with the new one, and keep the present one as `previous`. A complete program
        exists at every moment.
        """
        try:
            status = self.path.stat()
            os.chown(self.new, status.st_uid, status.st_gid)
            self.new.chmod(status.st_mode & 0o7777)
            self.previous.unlink(missing_ok=True)
            os.link(self.path, self.previous, follow_symlinks=False)
            self.new.replace(self.path)
        except OSError as error:
            raise StorageError(
                f"{self.new} cannot replace {self.path}: {reason_of(error)}. Nothing was changed."
            ) from None

    def sync(self) -> None:
        """Sync the folder, so that the new program survives a power cut. Raise OSError if that fails."""
        sync(self.path.parent)

    def put_back(self) -> None:
        """Replace the new program with the previous one. Do nothing if this was done before."""
        try:
            if self.previous.exists():
                self.previous.replace(self.path)
                sync(self.path.parent)
        except OSError as error:
            raise StorageError(
                f"The previous program cannot be put back: {reason_of(error)}. Move {self.previous} to "
                f"{self.path}, and start it."
            ) from None


def own_program() -> ProgramFile | None:
    """Return the one-file executable that is running now, or None if the program is not a one-file executable."""
    return ProgramFile(Path(sys.executable).resolve()) if packing_form() == "file" else None


def check_runs(pid: int, program: ProgramFile) -> None:
    """Raise StorageError if the server process `pid` does not run `program`. An upgrade replaces `program`, so the
    server must be running it.
    """
    try:
        target = str(Path(f"/proc/{pid}/exe").readlink()).removesuffix(" (deleted)")
    except OSError as error:
        raise StorageError(
            f"The program of the server (process {pid}) cannot be read: {reason_of(error)}. Run this command "
            "as the user of the server, or as root."
        ) from None

    if Path(target) != program.path:
        raise StorageError(
            f"The server runs {target}, but this program is {program.path}. Use the program of the server."
        )
