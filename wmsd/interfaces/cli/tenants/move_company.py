"""The work of `wmsd company move`. A company moves directly to another installation, or through a file."""

import secrets
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from wmsd.data_folder.lending import beside_a_server
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, say, say_text
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_of
from wmsd.interfaces.cli.tenants import company_archives
from wmsd.interfaces.cli.tenants.freeze_company import company_freeze, thaw_of
from wmsd.interfaces.cli.tenants.move_checks import Tick, deletion, of_address, of_file, of_folder
from wmsd.interfaces.cli.tenants.other_installation import ask_address, in_folder, is_address, token_in
from wmsd.maintenance.company_moves.export_import import company_name, scratch
from wmsd.maintenance.company_moves.move_checks import Standing, came_here, company_state
from wmsd.tenants.companies import store

ARCHIVE: Final = ".tar.gz"
OVER_THE_NETWORK: Final = (
    "wmsd cannot move a company over the network. Give a file, such as acme.tar.gz, and copy it to "
    "the other machine. Then --check with this address checks that everything arrived."
)


class Moving(NamedTuple):
    """The arguments and options of the command."""

    code: str
    target: str
    new_code: str | None = None
    operator_code: str | None = None
    target_config: Path | None = None
    passphrase_file: Path | None = None
    token_file: Path | None = None
    as_json: bool = False


def move(command_line: CommandLine, asked: Moving) -> None:
    target = Path(asked.target)
    if is_address(asked.target):
        raise click.UsageError(OVER_THE_NETWORK)
    if target.is_dir():
        _into_folder(command_line, asked, target)
    elif asked.target.endswith(ARCHIVE):
        _into_file(command_line, asked, target)
    else:
        raise click.UsageError(
            f"--to {asked.target} must be the data folder of another installation, or a file name that ends "
            f"with {ARCHIVE}."
        )


def check(command_line: CommandLine, asked: Moving) -> None:
    """Print the checklist of a move. Exit with status 1 if an entry is open. Entries that cannot be checked do not
    count.
    """
    command_line.find()
    if is_address(asked.target):
        if asked.token_file is None:
            raise click.UsageError(
                "--check with an address needs --token-file, with a token of the other installation."
            )
        home, _ = _home(command_line, asked.code)
        code, event = asked.new_code or asked.code, home.last_event
        found = ask_address(asked.target, token_in(asked.token_file), code, event)
        is_anything_left = _print_progress(home, [*of_address(home, found, code)], asked)
    elif not Path(asked.target).is_dir():
        raise click.UsageError("--check needs the address or the data folder of the other installation.")
    else:
        other = in_folder(Path(asked.target), asked.target_config)
        home, origin = _home(command_line, asked.code)
        _check_other(command_line, other)
        is_anything_left = _check_folder(other, home, origin, asked)
    if is_anything_left:
        sys.exit(1)


def _into_file(command_line: CommandLine, asked: Moving, file: Path) -> None:
    passphrase = passphrase_of(command_line, asked.passphrase_file)
    command_line.find()
    company_archives.write_export(command_line, asked.code, file, passphrase, is_to_freeze=True)
    home, _ = _home(command_line, asked.code)
    code = asked.new_code or asked.code
    note(
        f"{asked.code} is frozen, and {file} has all its data. Copy the file to the other machine, and type there:"
    )
    note(f"  {_import(asked, file, has_credentials=passphrase is not None)}", is_for_here=False)
    if passphrase is None and home.webhooks:
        note("  The credentials of the webhooks are not in the file: set them again in the other installation.")
    note(
        "After the import, check from here that everything arrived. Write a token of the other installation "
        "into a file, and type here:"
    )
    as_code = "" if code == asked.code else f" --code {shlex.quote(code)}"
    options = f"--check https://ADDRESS --token-file FILE{as_code}"
    note(f"  wmsd company move {shlex.quote(asked.code)} {options}")
    note(f"To cancel the move: {thaw_of(asked.code)}")
    _print([*of_file(home, code)], {"moved": asked.code, "file": str(file)}, asked)


def _import(asked: Moving, file: Path, has_credentials: bool) -> str:
    words = ["wmsd company import", shlex.quote(file.name)]
    for option, value in (("--code", asked.new_code), ("--operator", asked.operator_code)):
        words += [] if value is None else [option, shlex.quote(value)]
    return " ".join([*words, *(["--passphrase-file FILE"] if has_credentials else [])])


def _into_folder(command_line: CommandLine, asked: Moving, target: Path) -> None:
    other = in_folder(target, asked.target_config)
    command_line.find()
    _check_other(command_line, other)
    # the archive exists only during the move, so nobody needs to know its passphrase
    passphrase = secrets.token_urlsafe(32)
    with (
        scratch(other.folder, "move") as folder,
        beside_a_server(command_line.folder) as loan,
        company_freeze(command_line, loan, asked.code),
    ):
        file = folder / f"company{ARCHIVE}"
        company_archives.export_with(command_line, loan, asked.code, file, passphrase)
        company_archives.bring_in(other, file, asked.new_code, asked.operator_code, passphrase, None)
    home, origin = _home(command_line, asked.code)
    _check_folder(other, home, origin, asked)


def _check_other(command_line: CommandLine, other: CommandLine) -> None:
    """Raise StorageError if the folder of `other` contains this installation or a copy of it."""
    here, there = (each.read(store.installation, is_again=True) for each in (command_line, other))
    if here == there:
        raise StorageError(
            f"{other.folder.path} is this installation or a copy of it. Name another installation. Nothing "
            "was changed."
        )


def _home(command_line: CommandLine, code: str) -> tuple[Standing, Owner]:
    async def look(installation: Installation) -> tuple[Standing, Owner]:
        found = await company_state(installation, code)
        return found, installation.files.owner(found.company.id)

    return command_line.run_again(look)


def _check_folder(other: CommandLine, home: Standing, origin: Owner, asked: Moving) -> bool:
    """Print the checklist, and return True if an entry is open.

    `other` is the other data folder. Raise StorageError if it does not contain the company.
    """

    async def look(installation: Installation) -> Standing | None:
        codes = await came_here(installation, company_name(origin))
        if not codes or (asked.new_code is not None and asked.new_code not in codes):
            return None
        return await company_state(installation, asked.new_code or codes[-1], home.last_event)

    there = other.run_again(look)
    if there is None:
        raise StorageError(
            f"{other.folder.path} has no company that was imported from {asked.code} of this installation"
            f"{'' if asked.new_code is None else f' as {asked.new_code}'}. Import the company there first."
        )
    data = f" --data {shlex.quote(str(other.folder.path.absolute()))}"
    config = "" if other.config_file is None else f" --config {shlex.quote(str(other.config_file.absolute()))}"
    return _print_progress(home, [*of_folder(home, there, f"{config}{data}")], asked)


def _print_progress(home: Standing, ticks: Sequence[Tick], asked: Moving) -> bool:
    left = [each for each in ticks if each.is_done is False]
    _print(ticks, {"moved": asked.code, "to": asked.target}, asked)
    remove = deletion(home)
    if left:
        note(f"When everything is done, delete the company here: {remove}")
    else:
        note(f"All checks that are possible from here are done. To delete the company here: {remove}")
    return bool(left)


def _print(ticks: Sequence[Tick], about: Mapping[str, Any], asked: Moving) -> None:
    if asked.as_json:
        rows = [{"done": each.is_done, "what": each.text, "to_do": each.to_do or None} for each in ticks]
        say({**about, "checks": rows}, True)
        return
    for each in ticks:
        say_text(str(each))
