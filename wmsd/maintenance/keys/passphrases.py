"""Encrypts the installation's keys in a backup with a passphrase, in the format of age
(https://age-encryption.org/v1). Debian's `age --decrypt` can decrypt them too.
"""

import json
import logging
from pathlib import Path
from typing import Any, Final

import pyrage

from wmsd.base.machine.regular_files import reason_of
from wmsd.db.engine.failures import StorageError
from wmsd.settings.sections.backup import Backup

LOG = logging.getLogger("wmsd.backup")
LEAST_LETTERS: Final = 12
FOR_OTHERS: Final = 0o077
MEASUREMENTS: Final = 10
TOO_MUCH_WORK: Final = "Excessive work parameter"
"""The beginning of age's error if age expects the decryption on this machine to take more than 16 times as long as
the encryption took.

Before each encryption and decryption, age measures the speed of the machine, for a few milliseconds only. On a
busy machine, the measured speed can be very wrong.
"""
NO_TEXT: Final = "The passphrase file {path} is not UTF-8 text."
TOO_SHORT: Final = "The passphrase in {path} is too short: its first line must have at least {least} characters."


class NotOpened(StorageError):
    """The error for secrets that cannot be decrypted. Either the passphrase or recovery phrase is wrong, or this
    machine is too slow. The rest of the archive may be good.
    """


def passphrase_in(path: Path) -> str:
    """Return the first line of the file, which is the passphrase. Log a warning if other users may read the file.
    Raise StorageError if the file cannot be used.
    """
    passphrase = read_passphrase(path)
    if path.stat().st_mode & FOR_OTHERS:
        LOG.warning("%s can be read by other users than its owner: chmod 600 %s", path, path)
    return passphrase


def passphrase_of_settings(settings: Backup) -> str | None:
    """Return the passphrase, or None if the settings name no passphrase file. Raise StorageError if the file
    cannot be used.
    """
    return passphrase_in(Path(settings.passphrase_file)) if settings.passphrase_file else None


def read_passphrase(path: Path) -> str:
    """Return the first line of the file, without a check of its permissions. Raise StorageError if the file cannot
    be read, or if the line has fewer than `LEAST_LETTERS` characters.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"The passphrase file {path} cannot be read: {reason_of(error)}.") from None
    except UnicodeDecodeError:
        raise StorageError(NO_TEXT.format(path=path)) from None
    passphrase = text.partition("\n")[0].strip()
    if len(passphrase) < LEAST_LETTERS:
        raise StorageError(TOO_SHORT.format(path=path, least=LEAST_LETTERS))
    return passphrase


def encrypt_secrets(secrets: Any, passphrase: str) -> bytes:
    """Encrypt the secrets, as JSON."""
    return bytes(pyrage.passphrase.encrypt(json.dumps(secrets, indent=1).encode(), passphrase))


def decrypt_secrets(sealed: bytes, passphrase: str) -> Any:
    """Decrypt the secrets. Raise NotOpened if the passphrase is wrong, or if this machine is too slow."""
    for _ in range(MEASUREMENTS):
        try:
            return json.loads(pyrage.passphrase.decrypt(sealed, passphrase))
        except (pyrage.DecryptError, ValueError) as error:
            if not str(error).startswith(TOO_MUCH_WORK):
                raise NotOpened(
                    "The secrets in this archive are not encrypted with this passphrase. Name the "
                    "passphrase file that was in use when the archive was created. Or continue without a "
                    "passphrase: then the secrets must be created again."
                ) from None
    raise NotOpened(
        "This machine is too slow or too busy to open the secrets in this archive. Try again when the "
        "machine is less busy, or use a faster machine. Or continue without a passphrase: then the "
        "secrets must be created again."
    )
