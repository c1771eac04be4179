"""The command `wmsd backup`."""

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Final

import click

from wmsd.base.byte_sizes import size_text
from wmsd.base.plurals import count_of
from wmsd.data_folder.lending import beside_a_server
from wmsd.data_folder.platform_facts import installation_of
from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    fail,
    json_option,
    note,
    say,
    say_text,
    with_installation,
)
from wmsd.interfaces.cli.kit.progress_bar import progress_bar, to_server
from wmsd.interfaces.cli.maintenance.backup_list import backup_columns, describe_backup, note_companies, row_of
from wmsd.interfaces.cli.maintenance.backup_options import (
    passphrase_of,
    passphrase_option,
    secret_for,
)
from wmsd.interfaces.cli.maintenance.restore_backup import restore_command
from wmsd.maintenance.backups.archive import read_manifest
from wmsd.maintenance.backups.backup_verdict import REMEDY, backup_verdict
from wmsd.maintenance.backups.create import Creation, Made
from wmsd.maintenance.backups.encryption import said_of
from wmsd.maintenance.backups.file_snapshots import source_of
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.last_runs import (
    BackupRecord,
    change_record,
    made_elsewhere,
    read_record,
)
from wmsd.maintenance.backups.manifest import brings_back
from wmsd.maintenance.backups.progress import silent
from wmsd.maintenance.backups.schedule import local_now
from wmsd.maintenance.backups.scheduled_run import Scheduled, with_last_proof
from wmsd.maintenance.backups.verify import Proof, prove

LOW_PRIORITY: Final = 10
folder_option = click.option(
    "--folder",
    "folder_name",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the backups.  [default: backup.folder of the settings]",
)


@click.group("backup")
def backup_command() -> None:
    """Create, list, verify and restore backups.

    A backup is one archive with a consistent copy of every file. It can be created while the server works. Even
    without wmsd, `tar` unpacks the archive and `sqlite3` opens its files.
    """


backup_command.add_command(restore_command)


@backup_command.command("create")
@click.argument("name", metavar="[FILE]", required=False, type=click.Path(path_type=Path, dir_okay=False))
@folder_option
@passphrase_option
@json_option
@with_installation
def create(
    command_line: CommandLine,
    name: Path | None,
    folder_name: Path | None,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Create a backup of everything.

    The backup is written to FILE, or into the folder of the backups with its time as the name. The backup stays
    until you delete it. The keys of the installation are included only if they can be encrypted for the recovery
    phrase or with a passphrase. The command exits with 1 if a company's file could not be read; the backup has the
    other files.
    """
    if name is not None and folder_name is not None:
        raise click.UsageError("Give either FILE or --folder.")
    command_line.find()
    folder = _folder_of(command_line, name) if name is not None else _folder(command_line, folder_name)
    passphrase = passphrase_of(command_line, passphrase_file)
    with beside_a_server(command_line.folder) as loan, progress_bar("Copying") as tell:
        source = source_of(command_line.folder, loan)
        made = Creation(command_line.folder, source, folder, passphrase, tell).make(
            None if name is None else name.name
        )
    _print_made(command_line, folder, made, as_json)
    if made.manifest.left_out:
        sys.exit(1)


def _print_made(command_line: CommandLine, folder: BackupFolder, made: Made, as_json: bool) -> None:
    say({"backup": str(made.path), **describe_backup(made.path, made.manifest)}, as_json)
    note(f"The keys of the installation are {said_of(made.manifest)}.")
    for each in made.manifest.left_out:
        note(f"{each.code} is not in the backup: {each.reason}")
    if folder.is_on_disk_of(command_line.folder.path):
        note(
            f"{folder.path} is on the same disk as the data: if the disk fails, both are lost. Keep a copy "
            "elsewhere, or set backup.folder to a folder on another disk."
        )


@backup_command.command("list")
@folder_option
@json_option
@with_installation
def list_(command_line: CommandLine, folder_name: Path | None, as_json: bool) -> None:
    """List the backups in the folder, the oldest first.

    Several installations may share a folder: the list says which backups are of this one. If there is no data
    folder, the list has the installation and the companies of each backup. To list the archives of deleted
    companies, name their folder with --folder.
    """
    command_line.say_folder()
    folder = _folder(command_line, folder_name)
    own = installation_of(command_line.folder)
    rows = [row_of(path, own) for path in (*folder.archives(), *folder.companies())]
    nothing = f"There is no backup in {folder.path}.{_elsewhere(command_line, folder)}"
    say(rows if as_json else backup_columns(rows, own), as_json, empty=nothing)
    note_companies(folder, rows)
    if wrong := [row["error"] for row in rows if row["error"]]:
        fail(wrong)


@backup_command.command("verify")
@click.argument("name", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@folder_option
@passphrase_option
@json_option
@with_installation
def verify(
    command_line: CommandLine,
    name: Path | None,
    folder_name: Path | None,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Verify that a backup can be restored: FILE, or the newest one of this installation.

    The command unpacks every file of the archive, compares checksums, rows and the last changes with the manifest,
    and examines the file as `wmsd doctor` does. FILE may also be the archive of one company. The command needs
    disk space for the largest file, and exits with 1 if there is a problem.
    """
    command_line.say_folder()
    own = installation_of(command_line.folder)
    folder = _folder(command_line, folder_name)
    path = name or _newest(folder, own, _elsewhere(command_line, folder))
    passphrase = secret_for(command_line, read_manifest(path), passphrase_file)
    scratch_in = command_line.folder.path if command_line.folder.is_made else path.parent
    with progress_bar("Verifying") as tell:
        proof = prove(path, scratch_in, passphrase, tell)
    if own == proof.manifest.installation:
        _note_proof(command_line, path, proof)
    _print_proof(command_line, path, proof, as_json)


def _note_proof(command_line: CommandLine, path: Path, proof: Proof) -> None:
    """Store the result of the verification, but only for an archive in the backup folder of the settings.
    Elsewhere, the archive is a copy, and says nothing about the original archive.

    If the archive is the last scheduled backup, the result counts like a scheduled verification.
    """
    if path.resolve().parent != command_line.backups.resolve() or proof.is_whole is None:
        return

    def noted(record: BackupRecord) -> BackupRecord:
        made_at, made = proof.manifest.began_at, record.there(command_line.settings.backup).made
        if made is not None and made.at == made_at and Path(made.path).resolve() == path.resolve():
            return with_last_proof(record, path, proof, made.directory)
        return record.with_finding(made_at, proof.is_whole)

    change_record(command_line.folder.path, noted)


def _print_proof(command_line: CommandLine, path: Path, proof: Proof, as_json: bool) -> None:
    seconds = round(proof.seconds, 1)
    company = None if proof.manifest.company is None else proof.manifest.files[0].code
    if as_json:
        result = {"backup": str(path), "ok": not proof.problems, "seconds": seconds, "problems": proof.problems}
        protection = {"keys": proof.manifest.keys, "keys_opened": proof.are_keys_opened}
        phrases = [each.model_dump() for each in proof.manifest.phrases]
        say({**result, "company": company, **protection, "phrases": phrases}, as_json)
    else:
        files = f"{count_of(len(proof.manifest.files), 'file')}, {size_text(proof.manifest.bytes)}"
        say_text(f"{path} {_verdict(proof, company)}: {files}, examined in {seconds} s.")
        note(_key_protection(proof))
        if company is not None and not proof.problems:
            note(brings_back(path))
    if proof.problems:
        fail(proof.problems)


def _key_protection(proof: Proof) -> str:
    """Return a sentence that says how the keys in the archive are protected, and whether they were opened."""
    what = "The keys of the installation" if proof.manifest.company is None else "The credentials of webhooks"
    protection = f"{what} are {said_of(proof.manifest)}."
    if proof.manifest.keys != "encrypted":
        return protection
    if proof.are_keys_opened:
        return f"{protection} Their decryption was tested."
    return f"{protection} To test their decryption, name the file with the words: --passphrase-file FILE"


def _verdict(proof: Proof, company: str | None) -> str:
    if company is not None:
        return (
            f"is the archive of the company {company}, and {'has errors' if proof.problems else 'has no errors'}"
        )
    if proof.is_whole is None:
        return "can be restored, except for its secrets"
    return "can be restored" if proof.is_whole else "cannot be restored completely"


@backup_command.command("schedule")
@click.option(
    "--run", "is_run", is_flag=True, help="Create and verify the backups that are due, as the server does."
)
@click.option(
    "--now", "is_now", is_flag=True, help="With --run: create and verify a backup, even if no backup is due."
)
@click.option("--progress", "has_progress", is_flag=True, hidden=True, help="Report the progress to the server.")
@json_option
@with_installation
def schedule(command_line: CommandLine, is_run: bool, is_now: bool, has_progress: bool, as_json: bool) -> None:
    """Show when backups are created, and the result of the last one. With --run, create and verify the backups
    that are due.

    The server creates and verifies backups as section [backup] of the settings says; no other setup is needed. The
    command exits with 1 if there is no reliable backup.
    """
    command_line.find()
    settings = command_line.settings.backup
    if is_run:
        _run_scheduled(command_line, is_now, has_progress)
    elif is_now:
        raise click.UsageError("Use --now only with --run.")
    record = read_record(command_line.folder.path)
    found = backup_verdict(settings, record, local_now())
    there = record.there(settings)
    made, proven = there.made, there.proven
    folder = BackupFolder(Path(settings.folder))
    say(
        {
            "every": settings.every,
            "at": settings.at,
            "folder": settings.folder,
            "on_disk_of_data": folder.is_on_disk_of(command_line.folder.path),
            "keeps": f"{settings.keep_hourly} hourly, {settings.keep_daily} daily, {settings.keep_weekly} weekly",
            "backups": len(folder.archives()),
            "last_backup": None if made is None else made.at,
            "last_proof": None if proven is None else proven.at,
            "keys": None if proven is None else proven.keys or None,
            "ok": found.ok,
            "verdict": found.sentence,
        },
        as_json,
    )
    if not found.ok:
        fail([f"{found.text} {REMEDY}"])


def _run_scheduled(command_line: CommandLine, is_now: bool, has_progress: bool) -> None:
    """Create and verify the backups that are due, at a low priority, so that requests come first."""
    os.nice(LOW_PRIORITY)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that unfinished files are removed
    telling = to_server if has_progress else lambda _: silent
    Scheduled(command_line.settings.backup, command_line.folder, is_now, telling).run()


def _elsewhere(command_line: CommandLine, folder: BackupFolder) -> str:
    """Return a sentence that says where the last backup is, if it is not in the backup folder of the settings.
    Otherwise return "".

    `folder` is the folder that the command uses. The sentence begins with a space.
    """
    last = made_elsewhere(command_line.settings.backup, read_record(command_line.folder.path))
    if last is None or folder.path != command_line.backups:
        return ""
    lists = f"wmsd backup list --folder {shlex.quote(str(last.parent))}"
    return f" The last backup, {last.name}, was created in {last.parent}. To list that folder: {lists}"


def _newest(folder: BackupFolder, installation: str | None, elsewhere: str) -> Path:
    """Return the newest backup of the installation with the id `installation`. If the id is None, return the
    newest of all backups. Raise StorageError if there is none.

    `elsewhere` is a sentence to add to the error if the folder has no backup at all.
    """
    archives = folder.archives()[::-1]
    for path in archives:
        if installation in (None, _installation_of(path, installation)):
            return path
    if archives:
        raise StorageError(
            f"{folder.path} has only backups of other installations. `wmsd backup create` creates a backup "
            "of this installation."
        )
    raise StorageError(f"There is no backup in {folder.path}. `wmsd backup create` creates a backup.{elsewhere}")


def _installation_of(path: Path, otherwise: str | None) -> str | None:
    try:
        return read_manifest(path).installation
    except StorageError:
        return otherwise  # so that a damaged archive is chosen, and its error reported


def _folder_of(command_line: CommandLine, name: Path) -> BackupFolder:
    """Return the folder that contains the file `name`, as a `BackupFolder`.

    The backup folder of the settings may be missing: wmsd creates it later. Any other folder must exist.
    """
    is_of_settings = name.parent.resolve() == command_line.backups.resolve()
    return BackupFolder(name.parent, within=None if is_of_settings else name)


def _folder(command_line: CommandLine, named: Path | None) -> BackupFolder:
    return BackupFolder(named or command_line.backups)
