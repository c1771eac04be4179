"""The command `wmsd recovery-phrase`."""

import sys
from pathlib import Path
from typing import Final

import click

from wmsd.base.problems import Problem
from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    answer_needed_from,
    end_line,
    json_option,
    note,
    say,
    with_installation,
)
from wmsd.interfaces.cli.kit.questions import confirm, yes_option
from wmsd.maintenance.backups.last_runs import read_record
from wmsd.maintenance.keys import key_protection, recovery_phrase
from wmsd.maintenance.keys.passphrases import passphrase_in
from wmsd.maintenance.keys.recovery_phrase import Phrase, WrongPhrase
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

WRITE_DOWN: Final = (
    "Write these 12 words on paper, in this order, with the fingerprint {fingerprint}. The words "
    "are shown only now, and are not stored on this disk. With the words and a backup, another "
    "machine gets the same tokens and webhook credentials. Anyone who has both can read the keys, "
    "so keep the words and the backups in different places."
)
CHECK_LATER: Final = "Then type the words again: wmsd recovery-phrase check"
file_option = click.option(
    "--passphrase-file",
    "passphrase_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File with the words in its first line.  [default: the command asks for the words]",
)


@click.group()
def recovery_phrase_command() -> None:
    """Create and check the recovery phrase: 12 words that bring the keys back from a backup.

    This machine stores only the public half of the phrase, and encrypts backups with this half automatically. A
    thief who takes the machine cannot open the backups. The words themselves are on paper only.
    """


@recovery_phrase_command.command("create")
@json_option
@with_installation
def create(command_line: CommandLine, as_json: bool) -> None:
    """Create the recovery phrase, show it once, and check that it was written down.

    At a terminal the command asks for the words again. Without a terminal, check the words afterwards with `wmsd
    recovery-phrase check`. Until then `wmsd status` says that the words are not checked, and a second `create`
    replaces them with new words.
    """
    now = _checked(command_line)
    if now is not None:
        raise StorageError(
            f"There is already a recovery phrase, {now.fingerprint}, checked at {now.checked_at}. To create "
            "another phrase: wmsd recovery-phrase replace"
        )
    phrase = _create(command_line, None)
    _show(command_line, phrase, as_json)


@recovery_phrase_command.command("replace")
@yes_option
@json_option
@with_installation
def replace(command_line: CommandLine, yes: bool, as_json: bool) -> None:
    """Create another recovery phrase in place of the one in use.

    Existing backups open only with the previous phrase: keep this phrase as long as you keep the backups. Until
    the new phrase is checked, each of the two phrases opens new backups.
    """
    now = _checked(command_line)
    if now is None:
        raise StorageError(
            "There is no checked recovery phrase to replace. To create a phrase: wmsd recovery-phrase create"
        )
    kept = (
        f"Existing backups open only with the recovery phrase {now.fingerprint}. Keep that phrase as "
        "long as you keep those backups."
    )
    if not yes:
        confirm(f"{kept}\nCreate another recovery phrase for future backups?")
    phrase = _create(command_line, now.fingerprint)
    note(kept)
    _show(command_line, phrase, as_json)


@recovery_phrase_command.command("check")
@file_option
@with_installation
def check(command_line: CommandLine, passphrase_file: Path | None) -> None:
    """Type the recovery phrase again, to verify that it was written down correctly.

    Do this after `create`, and from time to time: `wmsd status` and every backup say when it was last checked.
    """
    if passphrase_file is not None:
        _print_checked(command_line, Phrase(passphrase_in(passphrase_file)), is_first=True)
        return
    command_line.find()
    with answer_needed_from("--passphrase-file FILE"):
        typed = click.prompt("Recovery phrase", err=True)
    end_line()
    _print_checked(command_line, Phrase(typed))


@recovery_phrase_command.command("decline")
@yes_option
@with_installation
def decline(command_line: CommandLine, yes: bool) -> None:
    """Continue without a recovery phrase.

    This decision is recorded. `wmsd status`, `wmsd doctor` and the pages still say what is lost with this machine,
    but they do not count it as an error any more. `wmsd recovery-phrase create` stays possible at any time.
    """
    known = command_line.read(key_protection.read_known_keys)
    made = read_record(command_line.folder.path).made
    found = key_protection.protection(known, command_line.settings.backup, made is not None)
    lost = found.sentence or "If this machine is lost, all its API tokens and webhook credentials are lost too."
    if not yes:
        confirm(f"{lost}\nContinue without a recovery phrase?")
    command_line.write(recovery_phrases.decline, is_again=True)
    note("Recorded: this installation continues without a recovery phrase.")


@recovery_phrase_command.command("list")
@json_option
@with_installation
def list_phrases(command_line: CommandLine, as_json: bool) -> None:
    """List all recovery phrases by their fingerprints. The words are not stored."""
    rows = [
        {
            "fingerprint": each.fingerprint,
            "created_at": each.created_at,
            "checked_at": each.checked_at,
            "replaced_at": each.replaced_at,
            "recipient": each.recipient,
        }
        for each in command_line.read(recovery_phrases.every)
    ]
    say(rows, as_json, "There is no recovery phrase yet. To create a phrase: wmsd recovery-phrase create")


def _create(command_line: CommandLine, replaces: str | None) -> Phrase:
    return command_line.write(lambda tx: recovery_phrase.create(tx, replaces), is_again=True)


def _checked(command_line: CommandLine) -> KnownPhrase | None:
    return command_line.read(lambda tx: recovery_phrases.checked(recovery_phrases.in_use(tx)))


def _show(command_line: CommandLine, phrase: Phrase, as_json: bool) -> None:
    if file := command_line.settings.backup.passphrase_file:
        note(
            f"Scheduled backups encrypt the keys with the passphrase in {file}. To use the recovery phrase "
            "instead, remove the setting backup.passphrase_file."
        )
    note(WRITE_DOWN.format(fingerprint=phrase.fingerprint))
    if as_json:
        say({"phrase": phrase.words, "fingerprint": phrase.fingerprint}, as_json)
    else:
        click.echo(phrase.words)
    if as_json or not sys.stdin.isatty():
        note(CHECK_LATER)
        return
    _ask_again(command_line)


def _ask_again(command_line: CommandLine) -> None:
    """Ask for the words until they are right. After Ctrl-C the phrase exists, but is not checked."""
    click.prompt("Press Enter when you have written down the words", default="", show_default=False, err=True)
    click.clear()
    while True:
        try:
            _print_checked(command_line, Phrase(click.prompt("Type the words from your paper", err=True)))
            return
        except WrongPhrase as error:
            note(str(error))
        except Problem as problem:
            note(problem.message)


def _print_checked(command_line: CommandLine, phrase: Phrase, is_first: bool = False) -> None:
    checked = command_line.write(lambda tx: recovery_phrases.check(tx, phrase.recipient), is_again=not is_first)
    note(
        f"Checked: these are the words of the recovery phrase {checked.fingerprint}. The next backup is "
        "encrypted for this phrase. To create a backup now: wmsd backup create"
    )
