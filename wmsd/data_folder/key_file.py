"""The key file with an installation's master secret, outside its data folder (see `tenants/keys/master_key.py`).

Each line is a secret, the newest last. There are two secrets only while a new one replaces the old one.
"""

import contextlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wmsd.base.machine.descriptors import sync_folder
from wmsd.base.machine.regular_files import check_regular, reason_of
from wmsd.db.engine.failures import StorageError
from wmsd.tenants.keys.master_key import IN_CLEAR, MasterKey

LOG = logging.getLogger("wmsd.keys")
HEADER: Final = "# The master secret of a wmsd installation. Keep a copy, apart from the data and its backups.\n"
FOR_OTHERS: Final = 0o077
UNUSABLE: Final = (
    "The key file {path} (server.key_file) cannot be used: {why}. Put the file back, or correct its "
    "permissions. If there never was a key file, remove server.key_file from the settings and use "
    "`wmsd key move FILE`."
)
NO_TEXT: Final = "it is not text"
NO_SECRET: Final = "it contains no secret"


def open_key(file: str) -> MasterKey:
    """Return the master key from the key file that the settings name.

    If `file` is empty, return a `MasterKey` that encrypts nothing. Raise StorageError if the file cannot be used.
    """
    if not file:
        return IN_CLEAR
    path = Path(file)
    key = MasterKey(file, lambda: secrets_in(path))
    if path.stat().st_mode & FOR_OTHERS:
        LOG.warning("%s can be read by other users than its owner: chmod 600 %s", file, file)
    return key


def secrets_in(path: Path) -> list[str]:
    """Return the secrets in the file. Raise StorageError if the file cannot be read or contains no secret."""
    try:
        check_regular(path)
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise _unreadable(path, reason_of(error)) from None
    except UnicodeDecodeError:
        raise _unreadable(path, NO_TEXT) from None
    secrets = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not secrets:
        raise _unreadable(path, NO_SECRET)
    return secrets


def _unreadable(path: Path, why: str) -> StorageError:
    return StorageError(UNUSABLE.format(path=path, why=why))


def create_key_file(path: Path, secret: str, data: Path) -> None:
    """Create a new key file. Its owner is the owner of the data folder `data`.

    If that fails, leave no file, and raise StorageError.
    """
    if path.resolve().is_relative_to(data.resolve()):
        raise StorageError(
            f"{path} is in the data folder, so copies of the data would contain the key. Name "
            "a file outside the data folder."
        )
    try:
        _write(path, [secret], data)
    except FileExistsError:
        raise StorageError(
            f"{path} already exists, and was not changed. Name a file that does not exist yet."
        ) from None
    except OSError as error:
        raise _not_written(path, error) from None


def replace(path: Path, secrets: Sequence[str]) -> None:
    """Replace all secrets of a key file. If the machine stops meanwhile, the file has either the old or the new
    secrets.

    Raise StorageError if that fails.
    """
    target = path.resolve()
    unfinished = target.with_name(f"{target.name}.new")
    try:
        unfinished.unlink(missing_ok=True)
        _write(unfinished, secrets, target)
        unfinished.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise _not_written(path, error) from None


def _not_written(path: Path, error: OSError) -> StorageError:
    return StorageError(f"The key file {path} cannot be written: {reason_of(error)}.")


def _write(path: Path, secrets: Sequence[str], like: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(file, "w", encoding="utf-8") as text:  # noqa: PTH123  (of a descriptor)
            owner = like.stat()
            with contextlib.suppress(PermissionError):  # only root can do this, and only root needs to
                os.fchown(file, owner.st_uid, owner.st_gid)
            text.write(HEADER + "".join(f"{secret}\n" for secret in secrets))
            text.flush()
            os.fsync(file)
        sync_folder(path.parent)
    except OSError:
        path.unlink(missing_ok=True)
        raise
