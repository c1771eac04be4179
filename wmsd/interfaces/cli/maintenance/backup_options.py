"""Options that the commands for backups share with the commands that move companies."""

from pathlib import Path

import click

from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import CommandLine
from wmsd.maintenance.backups.encryption import may_open
from wmsd.maintenance.backups.manifest import Manifest
from wmsd.maintenance.keys.passphrases import passphrase_in, passphrase_of_settings
from wmsd.maintenance.keys.recovery_phrase import Phrase, WrongPhrase

passphrase_option = click.option(
    "--passphrase-file",
    "passphrase_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File whose first line is the passphrase or recovery phrase that protects the secrets.  "
    "[default: backup.passphrase_file of the settings]",
)


def passphrase_of(command_line: CommandLine, named: Path | None) -> str | None:
    """Return the passphrase from the file `named`. If `named` is None, return the passphrase from the file in the
    settings, or None if the settings name no file.

    Raise StorageError if the file cannot be used.
    """
    return passphrase_of_settings(command_line.settings.backup) if named is None else passphrase_in(named)


def secret_for(command_line: CommandLine, manifest: Manifest, named: Path | None) -> str | None:
    """Return the passphrase or recovery phrase for this archive. If `named` is None, read the file in the
    settings.

    An archive may need a recovery phrase. If the file has a passphrase instead, raise StorageError for the file
    `named`, and return None for the file in the settings. Also return None if there is no file.
    """
    given = passphrase_of(command_line, named)
    if given is None or may_open(manifest, given):
        return given
    if named is None:
        return None
    try:
        Phrase(given)
    except WrongPhrase as error:
        names = " or ".join(each.fingerprint for each in manifest.phrases)
        raise StorageError(f"The file {named} does not have the recovery phrase {names}: {error}") from None
    return given
