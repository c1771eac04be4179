"""The command `wmsd key`."""

import json
from pathlib import Path

import click

from wmsd.base.machine.folder_lock import folder_lock
from wmsd.data_folder import key_file
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, with_installation
from wmsd.tenants.accounts import actions
from wmsd.tenants.keys.master_key import IN_CLEAR


@click.group()
def key_command() -> None:
    """Encrypt the keys of an installation, and change them.

    The data folder has the keys that sign tokens and encrypt credentials, so anyone with a copy of the folder has
    these keys too. With a key file in another place, the keys are encrypted: the folder is useless without the key
    file, and the key file is useless without the folder.
    """


@key_command.command("move")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--back", is_flag=True, help="Store the keys unencrypted in the data folder again.")
@with_installation
def move(command_line: CommandLine, file: Path | None, back: bool) -> None:
    """Encrypt the keys in the data folder with a new secret, and write the secret to FILE.

    FILE must not exist yet, and must not be in the data folder. Stop the server first. Keep a copy of FILE:
    without it the data folder cannot be opened any more.
    """
    if back == (file is not None):
        raise click.UsageError("Give either FILE or --back.")

    async def work(installation: Installation) -> None:
        installation.folder.lock("no address")
        try:
            if file is not None:
                key_file.create_key_file(file, installation.ids.secret(), installation.folder.path)
            new = IN_CLEAR if file is None else key_file.open_key(str(file))
            await installation.platform.write(lambda tx: actions.move_keys(tx, new))
            installation.folder.forget_deleted()
        finally:
            installation.folder.unlock()

    command_line.run(work)
    shown = "" if file is None else str(file.resolve())
    note(
        "The keys are unencrypted again."
        if file is None
        else f"The keys are encrypted with the secret in {shown}."
    )
    if file is not None:
        note(
            "Keep a copy of this file in a different place from the data and the backups: the data needs "
            "this file."
        )
    if command_line.settings.server.key_file:
        note(f"Older backups still need {command_line.settings.server.key_file}.")
    note("Before you do anything else, put this line into the configuration, under [server]:")
    click.echo(f"key_file = {json.dumps(shown, ensure_ascii=False)}")


@key_command.command("rotate")
@with_installation
def rotate(command_line: CommandLine) -> None:
    """Sign new tokens with a new key. If there is a key file, also encrypt the keys with a new secret.

    Tokens that were signed with the previous key are still accepted, as after `wmsd token rotate-key`. A running
    server uses the new keys automatically. Older copies of the key file open only older backups.
    """
    named = command_line.settings.server.key_file

    async def work(installation: Installation) -> None:
        if not named:
            await installation.platform.write(actions.rotate_signing_key)
            return
        path, secret = Path(named), installation.ids.secret()
        with folder_lock(installation.folder.path):  # only one rotation at a time
            key_file.replace(path, [*key_file.secrets_in(path), secret])
            await installation.platform.write(actions.rotate_keys)
            key_file.replace(path, [secret])

    command_line.run(work)
    note("New tokens are signed with a new key. Tokens signed with the previous key still work.")
    if named:
        note(f"The keys are encrypted with a new secret, in {named}. Copy this file to your safe place again.")
        note("Keep the previous copy as long as you keep older backups: only the previous copy opens them.")
