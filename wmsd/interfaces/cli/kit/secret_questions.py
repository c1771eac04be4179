"""The question at a terminal for the recovery phrase or the passphrase of an archive."""

import sys
from collections.abc import Callable

import click

from wmsd.interfaces.cli.kit.command_line import answer_needed_from, note
from wmsd.maintenance.backups.manifest import Manifest
from wmsd.maintenance.keys.passphrases import NotOpened


def ask_for_secret(manifest: Manifest, what: str, otherwise: str, open_with: Callable[[str], None]) -> None:
    """Ask for the secret until `open_with` accepts the answer, or until the answer is empty. If standard input is
    not a terminal, ask nothing.

    `open_with` is called with each answer, and raises NotOpened if the answer is wrong. `what` names the encrypted
    content of the archive, such as the keys. `otherwise` says what happens after an empty answer.
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
    """Print the prompt `name`, and return the answer of the user, or "".

    If `is_hidden` is True, the terminal does not show the answer. A recovery phrase of twelve words is shown,
    because people make errors when they cannot see the words.
    """
    with answer_needed_from("--passphrase-file FILE"):
        return str(click.prompt(name, default="", show_default=False, hide_input=is_hidden, err=True)).strip()
