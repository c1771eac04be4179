"""Encrypts the installation's keys in a backup with a passphrase, in the format of age
(https://age-encryption.org/v1): Debian's `age --decrypt` opens it too.
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
"""How age refuses what would take this machine over 16 times as long as the one that encrypted it. It measures
that anew each time, within milliseconds: on a busy machine one measurement may be far off.
"""
NO_TEXT: Final = "The passphrase file {path} is not UTF-8 text."
TOO_SHORT: Final = "The passphrase in {path} is too short: its first line must have {least} letters or more."


class NotOpened(StorageError):
    """The passphrase, or this machine, does not open what is encrypted; that says nothing of the rest."""


def passphrase_in(path: Path) -> str:
    """The first line of the file, whose rights the log is told of. Raises StorageError."""
    passphrase = read_passphrase(path)
    if path.stat().st_mode & FOR_OTHERS:
        LOG.warning("%s can be read by others than its owner: chmod 600 %s", path, path)
    return passphrase


def passphrase_of_settings(settings: Backup) -> str | None:
    """None where the settings name no file. Raises StorageError."""
    return passphrase_in(Path(settings.passphrase_file)) if settings.passphrase_file else None


def read_passphrase(path: Path) -> str:
    """As `passphrase_in`, and says nothing."""
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
    """As JSON."""
    return bytes(pyrage.passphrase.encrypt(json.dumps(secrets, indent=1).encode(), passphrase))


def decrypt_secrets(sealed: bytes, passphrase: str) -> Any:
    """Raises NotOpened when it is another passphrase, and when this machine is too slow for it."""
    for _ in range(MEASUREMENTS):
        try:
            return json.loads(pyrage.passphrase.decrypt(sealed, passphrase))
        except (pyrage.DecryptError, ValueError) as error:
            if not str(error).startswith(TOO_MUCH_WORK):
                raise NotOpened(
                    "What is secret in this archive is not encrypted with this passphrase. Name the file that was "
                    "in use when it was made, or go on without one: then it must be made anew."
                ) from None
    raise NotOpened(
        "This machine is too slow, or too busy, for what is secret in this archive. Try again when it is quiet, "
        "or on a faster one. Or go on without a passphrase: then what is secret must be made anew."
    )
