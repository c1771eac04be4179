"""What `wmsd company delete` does."""

import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from wmsd.contract.context import Company
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.db.engine.failures import StorageError, is_damage
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, answer_needed_from, note, say
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_of
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.company_moves import delete as deleting
from wmsd.maintenance.company_moves import deletion_store

Result = TypeVar("Result")
WITHOUT: Final = (
    "Restore it from a backup, or delete the company with --without-archive: that says first what is lost."
)


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
    to = BackupFolder(folder or Path(command_line.settings.backup.folder))
    to = to if folder else to.of_companies()
    if not is_agreed:
        _ask(command_line, code, to.path)
    with to.locked(), beside_a_server(command_line.folder) as loan:
        if loan is not None:
            loan.borrow(command_line.folder.platform_file)
        if finish_others(command_line, code):
            return
        begun = run_with_platform(command_line, lambda installation: deleting.begin(installation, code))
        if begun.is_resumed:
            note(f"The deletion of {code} was cut off before; it goes on.")
        archive, left = _delete(command_line, loan, begun.company, to, passphrase)
    say({"deleted": code, "archive": str(archive), **left._asdict()}, as_json)
    note_users(left, code)
    path = shlex.quote(str(archive))
    note(f"Its data is in {path}, and nowhere else but in older backups. Keep it as long as you have to.")
    note(f"`wmsd company import {path}` brings it back, with a new id.")


def _ask(command_line: CommandLine, code: str, to: Path) -> None:
    """Raises Problem where there is no such company, and ClickException when its code is not typed."""
    company = command_line.run_again(lambda installation: _company(installation, code))
    if company is None:
        return
    note(
        f"{code} ({company.name}) is written to an archive in {shlex.quote(str(to.absolute()))} first, of which "
        "`wmsd company import` makes it again. Then it is deleted with all its data."
    )
    with answer_needed_from("--yes"):
        typed = click.prompt("Type the code to go on", err=True)
    if typed != code:
        raise click.ClickException("That is not the code. Nothing was changed.")


async def _company(installation: Installation, code: str) -> Company | None:
    """None where only the file of one is left whose deletion was cut off."""
    if (await _left_over(installation, code))[1]:
        return None
    return (await installation.platform.read(lambda tx: deletion_store.find(tx, code))).company


def note_users(left: deleting.Left, code: str) -> None:
    if left.users:
        note(f"Users who no longer have {code}: {', '.join(left.users)}. They stay, with what else they have.")


def run_with_platform(command_line: CommandLine, work: Callable[[Installation], Awaitable[Result]]) -> Result:
    """The server lends platform.db only: it has closed the company's file."""
    return command_line.run_with(None, work)


def finish_others(command_line: CommandLine, code: str) -> bool:
    """Removes the files of companies that were gone from the platform when their deletion was cut off. Returns
    whether that is all that there was to do for this one.
    """

    gone, is_all = run_with_platform(command_line, lambda installation: _left_over(installation, code))
    for company_id in gone:
        deleting.remove_files(command_line.folder, company_id)
        note(f"The file of company {company_id}, which was deleted before, is removed.")
    return is_all


async def _left_over(installation: Installation, code: str) -> tuple[list[int], bool]:
    """The companies of which only the file is left, and whether the one of this code is one of them."""
    gone = await deleting.leftover(installation)
    every = await installation.platform.read(deletion_store.every_code)
    was_deleted = await installation.platform.read(lambda tx: deletion_store.has_ended(tx, code))
    return gone, bool(gone) and was_deleted and code not in every


def _delete(
    command_line: CommandLine, loan: Loan | None, company: Company, to: BackupFolder, passphrase: str | None
) -> tuple[Path, deleting.Left]:
    """Returns the archive, and what went with the company. Until the platform has forgotten it, the company is
    served again when something fails.
    """
    try:
        deleting.close(command_line.folder, loan, company)
        leaving = run_with_platform(
            command_line, lambda installation: deleting.leaving(installation, company, passphrase is not None)
        )
        archive = deleting.archive(command_line.folder, to, leaving, passphrase)
        left = run_with_platform(command_line, lambda installation: deleting.end(installation, company, archive))
    except BaseException as error:
        run_with_platform(command_line, lambda installation: deleting.give_up(installation, company))
        path = command_line.folder.companies / f"{company.id}.db"
        if not path.exists():
            raise StorageError(f"{path} is missing. {WITHOUT}") from error
        if isinstance(error, Exception) and is_damage(error):
            raise StorageError(f"{path} is damaged ({error}). {WITHOUT}") from error
        raise
    deleting.remove_files(command_line.folder, company.id)
    return archive, left
