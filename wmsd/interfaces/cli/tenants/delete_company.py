"""The work of `wmsd company delete`."""

import shlex
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from wmsd.contract.context import Company
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, answer_needed_from, note, say
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_of
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.company_moves import delete as deleting
from wmsd.maintenance.company_moves import deletion_store

Result = TypeVar("Result")


def delete(
    command_line: CommandLine,
    code: str,
    is_agreed: bool,
    folder: Path | None,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    passphrase = passphrase_of(command_line, passphrase_file)
    command_line.find()
    to = BackupFolder(folder or command_line.backups)
    to = to if folder else to.of_companies()
    if not is_agreed:
        _ask(command_line, code, to.path)
    with to.locked(), beside_a_server(command_line.folder) as loan:
        deletion = _begun(command_line, loan, code)
        if deletion is None:
            return
        if deletion.is_resumed:
            note(f"An earlier deletion of {code} was interrupted. wmsd now continues the deletion.")
        archive, left = deletion.with_archive(to, passphrase)
    say({"deleted": code, "archive": str(archive), **left._asdict()}, as_json)
    _note_users(left, code)
    path = shlex.quote(str(archive))
    note(
        f"The data of the company is now only in {path} and in older backups. Keep this file as long as "
        "you need the data."
    )
    note(f"To bring the company back, with a new id: wmsd company import {path}")


def delete_without_archive(command_line: CommandLine, code: str, as_json: bool) -> None:
    """Delete a company whose file is damaged or missing."""
    company = command_line.read(lambda tx: deletion_store.find(tx, code)).company
    _ask_without_archive(command_line, company, code)
    with beside_a_server(command_line.folder) as loan:
        deletion = _begun(command_line, loan, code)
        if deletion is None:
            return
        aside, left = deletion.without_archive()
    say({"deleted": code, "archive": None, "folder": str(aside), **left._asdict()}, as_json)
    _note_users(left, code)
    note(
        f"The remaining files of the company are in {aside}. Backups do not include this folder, and "
        "wmsd never deletes it."
    )


def _ask(command_line: CommandLine, code: str, to: Path) -> None:
    """Ask the user to type the company's code. `to` is the folder for the archive.

    Raise Problem if there is no such company, and ClickException if the typed code is wrong. If an earlier
    deletion was interrupted, and only the company's file is left, ask nothing.
    """
    company = command_line.run_again(lambda at: _company_with_file(at, code))
    if company is None:
        return
    note(
        f"wmsd first writes {code} ({company.name}) to an archive in {shlex.quote(str(to.absolute()))}, "
        "from which `wmsd company import` can bring the company back. Then wmsd deletes the company "
        "with all its data."
    )
    with answer_needed_from("--yes"):
        typed = click.prompt("Type the code of the company to continue", err=True)
    _check_typed(typed, code)


def _ask_without_archive(command_line: CommandLine, company: Company, code: str) -> None:
    """Print what will be lost, and ask for the code. Raise ClickException if the code is wrong."""
    path = command_line.folder.companies / f"{company.id}.db"
    note(f"{code} ({company.name}) will be deleted without an archive.")
    note(
        "You lose the articles, partners, clients, warehouses, stock with its ledger, orders, webhooks "
        "and history of the company, unless an older backup has them (`wmsd backup list`)."
    )
    aside = ", ".join(map(str, deleting.left_aside(command_line.folder, company)))
    if path.exists():
        note(f"wmsd keeps {path} unchanged, in a separate folder.")
    else:
        note(f"{path} is already in {aside}." if aside else f"{path} is missing, so no file is kept.")
    _check_typed(
        click.prompt("This deletion cannot be undone. Type the code of the company to continue", err=True), code
    )


def _check_typed(typed: str, code: str) -> None:
    if typed != code:
        raise click.ClickException("The typed code is not the code of the company. Nothing was changed.")


async def _company_with_file(installation: Installation, code: str) -> Company | None:
    """Return the company, or None if an earlier deletion was interrupted and only the company's file is left."""
    if (await deleting.left_over(installation, code))[1]:
        return None
    return (await installation.platform.read(lambda tx: deletion_store.find(tx, code))).company


def _begun(command_line: CommandLine, loan: Loan | None, code: str) -> deleting.Deletion | None:
    """Begin the deletion, and return it. From now on nobody can use the company.

    First remove the files that interrupted deletions have left. If nothing else of the company is left to delete,
    return None.
    """
    if loan is not None:
        loan.borrow(command_line.folder.platform_file)

    on_platform = partial(command_line.run_with, None)
    gone, is_all = on_platform(lambda at: deleting.left_over(at, code))
    for company_id in gone:
        deleting.remove_files(command_line.folder, company_id)
        note(f"Removed the file of company {company_id}, which was deleted earlier.")
    if is_all:
        return None
    begun = on_platform(lambda at: at.platform.write(lambda tx: deletion_store.begin(tx, code)))
    return deleting.Deletion(command_line.folder, loan, on_platform, begun)


def _note_users(left: deletion_store.Left, code: str) -> None:
    if left.users:
        note(
            f"Users who no longer have access to {code}: {', '.join(left.users)}. These users keep all their "
            "other rights."
        )
