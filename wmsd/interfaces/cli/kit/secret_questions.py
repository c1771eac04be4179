"""The question at a terminal for the recovery phrase or the passphrase of an archive."""

import sys
from collections.abc import Callable

import click

from wmsd.interfaces.cli.kit.command_line import answer_needed_from, note
from wmsd.maintenance.backups.manifest import Manifest
from wmsd.maintenance.keys.passphrases import NotOpened


def ask_for_secret(manifest: Manifest, what: str, otherwise: str, open_with: Callable[[str], None]) -> None:
    """Ask for the secret until `open_with` accepts the answer, or until the answer is empty.

    `open_with` raises NotOpened if the answer is wrong. `what` names the secret content of the archive, and
    `otherwise` says what an empty answer does. Without a terminal nothing is asked.
    """
    if not sys.stdin.isatty():
        return
    names = " or ".join(each.fingerprint for each in manifest.phrases)
    how = f"encrypted for the recovery phrase {names}" if names else "encrypted with a passphrase"
    note(f"{what} in this archive are {how}. An empty answer {otherwise}.")
    while typed := _typed("Recovery phrase" if names else "Passphrase", is_hidden=not names):
        try:
            open_with(typed)
            return
        except NotOpened as error:
            note(str(error))


def _typed(name: str, is_hidden: bool) -> str:
    """Return the answer that the user types after the prompt `name`, or "".

    The twelve words of a recovery phrase are displayed while the user types them: hidden, nobody types them
    correctly.
    """
    with answer_needed_from("--passphrase-file FILE"):
        return str(click.prompt(name, default="", show_default=False, hide_input=is_hidden, err=True)).strip()
