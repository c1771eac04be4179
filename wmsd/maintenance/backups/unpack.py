"""Extracts files from an archive, and compares them with the manifest."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from wmsd.base.machine.private_files import new_durable
from wmsd.base.machine.regular_files import reason_of
from wmsd.db import migrations
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.snapshots import read_state
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.migrations import MAGIC
from wmsd.maintenance.backups.archive import opened_entry
from wmsd.maintenance.backups.encryption import check_form, open_secrets
from wmsd.maintenance.backups.file_figures import figure_differences, read_figures
from wmsd.maintenance.backups.manifest import BackedUpFile, Manifest

MOST_SECRETS_BYTES: Final = 10_000_000


class NotWritten(StorageError):
    """The error if a file from an archive could not be written. The archive itself may be good."""


def unpack_file(archive: Path, file: BackedUpFile, target: Path) -> None:
    """Write the file to `target`, which must not exist, and sync it to the disk. If that fails, leave no file
    behind.

    Raise StorageError if the file differs from the manifest, or has a schema that the migrations did not create.
    Raise NotWritten if `target` cannot be written, and FileExistsError if it exists.
    """
    digest = hashlib.sha256()
    try:
        with opened_entry(archive, file.at) as entry, new_durable(target) as out:
            if (entry.name, entry.size) != (file.path, file.bytes):
                raise StorageError(
                    f"{archive} is damaged: it has {entry.name!r} of {entry.size} bytes where {file.path} of "
                    f"{file.bytes} bytes should be. Copy the archive again, or use another archive."
                )
            for number, piece in enumerate(entry.pieces()):
                if number == 0 and not piece.startswith(MAGIC):  # detected before a wrong file fills the disk
                    raise StorageError(
                        f"{archive} is damaged: {file.path} in it is not a SQLite file. Copy the archive "
                        "again, or use another archive."
                    )
                digest.update(piece)
                out.write(piece)
        if digest.hexdigest() != file.sha256:
            raise StorageError(
                f"{archive} is damaged: the checksum of {file.path} differs from the manifest. Copy the "
                "archive again, or use another archive."
            )
        with suppress(sqlite3.Error):  # a damaged file is reported by the next step, with details
            migrations.check_schema(target, migrations.PLATFORM if file.company_id is None else migrations.COMPANY)
    except migrations.ForeignSchema as error:
        target.unlink(missing_ok=True)
        raise StorageError(
            f"{file.path} in {archive} has a schema that wmsd did not create ({error.found} added, changed or "
            "missing). Nothing was changed. Use an unchanged archive: --anyway does not help, because a "
            "foreign trigger would run automatically."
        ) from None
    except FileExistsError:
        raise
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise NotWritten(
                f"{file.path} of {archive} cannot be unpacked to {target}: {reason_of(error)}."
            ) from None
        raise


def unpacked_differences(file: BackedUpFile, unpacked: Path) -> list[str]:
    """Return a text for each figure of the unpacked file that differs from the manifest. The function does not
    migrate the file.

    Raise sqlite3.Error or StorageError if the unpacked file cannot be read.
    """
    return figure_differences(file.figures, read_state(unpacked, read_figures))


def secrets_of(archive: Path, manifest: Manifest, name: str, given: str) -> Any:
    """Return the decrypted content of the entry `name`: the keys, or the credentials of a company's webhooks.

    `given` is the passphrase or the recovery phrase. Raise NotOpened if it does not decrypt the entry, and
    StorageError if the archive has no secrets or is damaged.
    """
    return open_secrets(_sealed(archive, manifest, name), manifest, given)


def check_secrets(archive: Path, manifest: Manifest, name: str) -> None:
    """Raise StorageError if the secrets are missing or damaged. Without decrypting them, this finds only damage
    that can be seen from outside.
    """
    check_form(_sealed(archive, manifest, name))


def _sealed(archive: Path, manifest: Manifest, name: str) -> bytes:
    if manifest.keys_at is None:
        raise StorageError(f"{archive} has no encrypted content: it was created without a passphrase.")
    with opened_entry(archive, manifest.keys_at) as entry:
        if entry.name != name or entry.size > MOST_SECRETS_BYTES:
            raise StorageError(
                f"{archive} is damaged: it has {entry.name!r} where {name} should be. Copy the archive again, "
                "or use another archive."
            )
        return b"".join(entry.pieces())
