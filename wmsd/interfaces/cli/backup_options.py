"""Options that the commands for backups and for moving companies share."""

from pathlib import Path

import click

from wmsd.app.backups.passphrases import passphrase_in
from wmsd.app.backups.source import FromFolder, FromServer, Source
from wmsd.app.lending import Loan
from wmsd.interfaces.cli.command_line import CommandLine

passphrase_option = click.option(
    "--passphrase-file",
    "passphrase_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Its first line encrypts what is secret.  [default: backup.passphrase_file of the settings]",
)


def passphrase_of(command_line: CommandLine, named: Path | None) -> str | None:
    """The passphrase of the file that is named, or that the settings name. Raises StorageError."""
    set_file = command_line.settings.backup.passphrase_file
    file = named or (Path(set_file) if set_file else None)
    return None if file is None else passphrase_in(file)


def source_of(command_line: CommandLine, loan: Loan | None) -> Source:
    return FromFolder(command_line.folder) if loan is None else FromServer(loan)
