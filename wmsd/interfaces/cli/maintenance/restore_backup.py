"""The command `wmsd backup restore`, for everything, for one company, or for platform.db alone."""

import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from wmsd.data_folder.folder import DataFolder, new_place
from wmsd.data_folder.lending import beside_a_server
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.data_folder.new_epoch import Missing
from wmsd.data_folder.numbers import read_numbers
from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.operations import at_the_command_line
from wmsd.interfaces.cli.kit.progress_bar import progress_bar
from wmsd.interfaces.cli.kit.questions import confirm, yes_option
from wmsd.interfaces.cli.kit.secret_questions import ask_for_secret
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_option, secret_for
from wmsd.interfaces.cli.maintenance.restore_report import (
    INTEGRATORS,
    KEYS,
    KEYS_SHOWN,
    question,
    restore_sentences,
    sentences_of_missing,
    sentences_of_replaced,
    sentences_of_revoked_access,
    sentences_of_unread,
    some_of,
)
from wmsd.interfaces.cli.server.new_folder import refuse_foreign_files
from wmsd.maintenance.backups.archive import read_manifest
from wmsd.maintenance.backups.manifest import BackedUpFile
from wmsd.maintenance.backups.newest_backup import newest_with
from wmsd.maintenance.backups.restore import Restore
from wmsd.maintenance.backups.server_side import ToPut, put_company_file
from wmsd.maintenance.platform_restore.adopt_companies import AdoptedCompany
from wmsd.maintenance.platform_restore.restore_platform import PlatformRestore, PlatformRestored

UNTOUCHED: Final = "The companies' files were not touched: their records, stock and history are complete."
MISSING: Final = (
    "Changes after {made_at} to users, tokens, sites, operators and the settings of companies are "
    "missing. Check wmsd user list and wmsd token list."
)


@click.command("restore")
@click.argument("archive", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--company", "code", metavar="CODE", help="Restore only this company; the other companies continue to work."
)
@click.option(
    "--only-platform", is_flag=True, help="Restore only platform.db; the companies' files stay as they are."
)
@click.option("--anyway", is_flag=True, help="Restore files even if the examination finds errors in them.")
@click.option("--new-keys", is_flag=True, help="Generate new keys, if the passphrase of the backup is lost.")
@click.option(
    "--nothing-after", is_flag=True, help="Nothing was written after the backup, so wmsd need not skip numbers."
)
@yes_option
@passphrase_option
@json_option
@with_installation
def restore_command(
    command_line: CommandLine,
    archive: Path,
    code: str | None,
    only_platform: bool,
    anyway: bool,
    new_keys: bool,
    nothing_after: bool,
    yes: bool,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Restore the backup FILE: everything, one company, or platform.db alone.

    Everything is restored into an empty data folder, or in place of the existing data; stop the server for this.
    One company is restored while the server works: only that company waits for a short time. Every file is first
    unpacked, compared and examined; then either all files are put in place or none. The previous files are kept in
    the data folder, in replaced-<time>. The command first says what is replaced, and asks for confirmation.

    No number is used twice: ids, codes, events and webhook deliveries continue after the last numbers of the
    replaced files. If these are not known, as in an empty data folder, wmsd skips 10 000 or more numbers. Use
    --nothing-after if the server was stopped before the backup was created, as in a move to another machine.
    Tokens that were revoked since the backup stay revoked. The command says what was written after the backup and
    is now missing.

    With --only-platform the companies' files stay as they are: use it if only platform.db is lost. Companies that
    were created after the backup are served again from their own files. Stop the server first.
    """
    if only_platform and code is not None:
        raise click.UsageError("Give either --company or --only-platform.")
    command_line.say_folder()
    passphrase = secret_for(command_line, read_manifest(archive), passphrase_file)
    if only_platform:
        alone = PlatformRestore(archive, command_line.folder, passphrase, anyway, new_keys)
        say(_only_platform(command_line, alone, not yes, as_json), as_json)
        return
    work = Restore(archive, command_line.folder, passphrase, anyway, new_keys, nothing_after)
    if code is None:
        say(_everything(command_line, work, not yes, as_json), as_json)
    else:
        say(_company(command_line, work, code, not yes), as_json)


def _everything(command_line: CommandLine, work: Restore, asks: bool, as_json: bool) -> dict[str, Any]:
    folder = command_line.folder
    refuse_foreign_files(command_line)
    with new_place(folder):
        if work.lacks_secret:
            what, otherwise = "The keys of the installation", "cancels the restore"
            ask_for_secret(work.manifest, what, otherwise, work.open_with)
        work.check_everything()
        if asks and work.puts_aside:
            confirm(question(work, folder.path))
        with progress_bar("Restoring") as work.tell:
            done = work.everything()
    for sentence in restore_sentences(work.manifest, done, folder.path, command_line.backups):
        note(sentence)
    return {
        "restored": str(work.archive),
        "made_at": work.manifest.began_at,
        "companies": sum(file.company_id is not None for file in work.manifest.files),
        "missing_events": 0 if work.nothing_after else _missing(done.missing, work.manifest.files, done.replaced),
        "replaced": str(done.replaced) if done.replaced else None,
        "keys": done.keys if as_json else KEYS_SHOWN[done.keys],
        **({"access_unknown_after": done.access_unknown_after} if as_json else {}),
    }


def _company(command_line: CommandLine, work: Restore, code: str, asks: bool) -> dict[str, Any]:
    command_line.check_made()
    with beside_a_server(command_line.folder) as loan:
        if loan is None:
            command_line.folder.lock("no address")
        else:
            loan.borrow(command_line.folder.platform_file)
        file = work.company_file(code)
        if asks and (command_line.folder.path / file.path).exists():
            confirm(_company_question(work, command_line.folder, file, is_served=loan is not None))
        with progress_bar("Restoring") as work.tell, work.company_unpacked(file) as unpacked:
            missing = put_company_file(
                command_line.folder,
                loan,
                ToPut(file.company_id or 0, file.path, unpacked, work.replaced, work.manifest.began_at),
            )
    lost, replaced = {code: missing} if missing else {}, work.replaced_files()
    for sentence in (*sentences_of_missing(lost), INTEGRATORS, *sentences_of_replaced(replaced)):
        note(sentence)
    return {
        "restored": code,
        "from": str(work.archive),
        "made_at": work.manifest.began_at,
        "missing_events": _missing(lost, [file], replaced),
        "replaced": str(replaced) if replaced else None,
    }


def _company_question(work: Restore, folder: DataFolder, file: BackedUpFile, is_served: bool) -> str:
    """Return the question before the restore of one company.

    If a server is running, borrow the company's file from it to count the events in the file. The file is given
    back before the question, because a server does not replace a file that is lent.
    """
    if not is_served:
        return question(work, folder.path, file)
    with beside_a_server(folder) as loan:
        if loan is not None:
            with suppress(StorageError):  # the question then leaves out the number
                loan.borrow(folder.path / file.path)
        return question(work, folder.path, file)


def _missing(found: Mapping[str, Missing], files: Iterable[BackedUpFile], replaced: Path | None) -> int | None:
    """Return how many events are missing because they were written after the backup. Return None if the number is
    unknown.

    `found` has the known losses by company code. `replaced` is the folder with the previous files, or None. Print
    notes about companies whose previous file cannot be read.
    """
    companies = [file for file in files if file.code]
    unknown = [
        each.code or "" for each in companies if replaced is None or read_numbers(replaced / each.path) is None
    ]
    for sentence in sentences_of_unread(unknown, found):
        note(sentence)
    return None if unknown and not found else sum(each.events for each in found.values())


def _only_platform(command_line: CommandLine, work: PlatformRestore, asks: bool, as_json: bool) -> dict[str, Any]:
    """Restore platform.db alone, and return the result to print.

    If `asks` is True and there is already a platform.db, ask for confirmation first.
    """
    folder, backups = command_line.folder, command_line.backups
    with new_place(folder):
        work.check_platform()
        if asks and work.puts_aside:
            confirm(_question(work, folder.path))
        with progress_bar("Restoring") as work.tell:
            done = work.platform_alone(backups, at_the_command_line())
    for sentence in _sentences(command_line, work, done, backups):
        note(sentence)
    settled = done.settled
    return {
        "restored": str(work.archive),
        "made_at": work.manifest.began_at,
        "only": PLATFORM_FILE,
        "adopted": [each.code for each in settled.adopted],
        "deleted": settled.deleted,
        "without_file": settled.without_file,
        "not_adopted": settled.not_adopted,
        "replaced": str(done.replaced) if done.replaced else None,
        "keys": done.keys if as_json else KEYS_SHOWN[done.keys],
    }


def _question(work: PlatformRestore, data: Path) -> str:
    return (
        f"This restores platform.db in {data} to the state of {work.manifest.began_at}: users, tokens, "
        "sites, operators and the settings of companies. The companies' files stay as they are. The "
        f"present platform.db is kept in {data / work.replaced}.\nRestore platform.db?"
    )


def _sentences(
    command_line: CommandLine, work: PlatformRestore, done: PlatformRestored, backups: Path
) -> list[str]:
    settled = done.settled
    sentences = [UNTOUCHED, MISSING.format(made_at=work.manifest.began_at)]
    for each in settled.adopted:
        sentences += _of_adopted(each)
    if settled.deleted:
        sentences.append(
            f"Deleted after the backup, and still deleted: {some_of(settled.deleted)}. Tokens that were only "
            "for these companies are revoked."
        )
    for code in settled.without_file:
        newest = newest_with(command_line.folder.path, backups, code, work.manifest.installation)
        quoted = shlex.quote(code)
        sentences.append(
            f"The file of {code} is missing, but wmsd has no record that {code} was deleted. To restore the "
            f"company: wmsd backup restore {newest} --company {quoted}. If the company was deleted: wmsd "
            f"company delete {quoted} --without-archive"
        )
    if settled.not_adopted:
        sentences.append(
            f"No company was created for {some_of(settled.not_adopted)}, because the file does not show that "
            "it belongs to this installation. The file was not changed; wmsd doctor reports more."
        )
    sentences += sentences_of_revoked_access(done.shut_out)
    sentences += sentences_of_replaced(done.replaced)
    return [*sentences, KEYS[done.keys]]


def _of_adopted(company: AdoptedCompany) -> list[str]:
    code = shlex.quote(company.code)
    modules = ", ".join(company.modules)
    made = f"{company.code} (id {company.id}) was created after the backup, and is served again from its own file"
    access = f"To give a user access: wmsd user change EMAIL --add-company {code}"
    renamed = (
        ""
        if company.code == company.had_code or company.is_known
        else f" Another company now has the code {company.had_code}, so this company has the code {company.code}."
    )
    if company.is_known:
        return [f"{made}. Its name and settings come from the replaced platform.db.{renamed} {access}"]
    return [
        f"{made}. The file does not contain the company's name, operator and limits, or whether it is a "
        f"sandbox. The company is now named {company.name}, has no operator and no separate limits, and "
        f"is not a sandbox.{renamed} Modules with records are on: {modules}. To correct this: wmsd "
        f"company change {code} and wmsd module enable {code} MODULE. {access}"
    ]
