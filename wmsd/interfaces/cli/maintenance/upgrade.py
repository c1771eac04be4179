"""The command `wmsd upgrade`."""

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click

from wmsd import __version__
from wmsd.base import timestamps
from wmsd.data_folder.folder import Serving
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.db.engine.failures import StorageError
from wmsd.host.own_program import packing_form
from wmsd.host.program_file import ProgramFile, check_runs, own_program
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.progress_bar import progress_bar
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_of
from wmsd.interfaces.cli.server.ask_health import GOOD, ask_health, url_of
from wmsd.maintenance.backups.create import Creation, Made
from wmsd.maintenance.backups.file_snapshots import source_of
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.upgrades.check_release import Described, check_release, describe_release
from wmsd.maintenance.upgrades.journal import Upgrade, write_upgrade
from wmsd.maintenance.upgrades.kept_copies import KeptCopies
from wmsd.maintenance.upgrades.rehearse import Rehearsal, rehearse
from wmsd.maintenance.upgrades.switch_program import ChangeOver

LEAST_SECONDS: Final = 60.0
TIMES_REHEARSED: Final = 10
"""The real upgrade may take this many times as long as the trial run, because the machine may be busy."""


@click.command("upgrade")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--public-key", "key_file", metavar="FILE", type=click.Path(path_type=Path), help="The maker's public key."
)
@click.option("--sha256", metavar="HEX", help="The SHA-256 that the maker publishes for FILE.")
@click.option("--only-rehearse", is_flag=True, help="Do only the trial run; change nothing.")
@click.option("--rehearse", "is_rehearsal", is_flag=True, hidden=True, help="FILE is a backup.")
@json_option
@with_installation
def upgrade_command(
    command_line: CommandLine,
    file: Path,
    key_file: Path | None,
    sha256: str | None,
    only_rehearse: bool,
    is_rehearsal: bool,
    as_json: bool,
) -> None:
    """Upgrade to the program FILE, a newer wmsd.

    The command checks who made FILE: by its signature FILE.minisig, or by the checksum that you give. The command
    creates a backup, and the new program does a trial run on this backup: it migrates and examines every file in a
    scratch folder. The trial run reports its duration and its changes. Then the new program replaces the present
    one, and the server starts again with it. The new server migrates the files before it serves anyone, and keeps
    a copy of each. If this fails, the present program and the present files are restored automatically.
    """
    if is_rehearsal:
        # this part runs in the new program, and prints its result as JSON
        with progress_bar("Trial run") as tell:
            found_there = rehearse(file, command_line.folder.path, tell)
            click.echo(found_there.model_dump_json())
        # printed here, because the old program may not know these sentences
        for line in found_there.gaining_tokens:
            note(line)
        return
    command_line.find()
    server = command_line.folder.server()
    program = _program(server)
    was_healthy = server is not None and ask_health(server, server.has_tls(command_line.settings.server)) in GOOD
    try:
        found = _checked(file, program, key_file, sha256)
        _ask_for_settings(command_line, program, server)
        with beside_a_server(command_line.folder) as loan:
            made = _backup(command_line, loan)
            rehearsal = _rehearsed(command_line, program, made.path)
            _print_rehearsal(rehearsal, made)
            change = None
            if not only_rehearse:
                most_seconds = LEAST_SECONDS + TIMES_REHEARSED * rehearsal.seconds
                change = _begin(command_line, program, found, made, server, loan, most_seconds)
        look = partial(_why_not_healthy, command_line, was_healthy)
        serving = None if change is None else change.finish(look)
    finally:
        program.new.unlink(missing_ok=True)
    if only_rehearse:
        note("Nothing was changed.")
    else:
        _print_end(command_line, found, program, serving)
    if as_json:
        outcome = "rehearsed" if only_rehearse else "serves" if serving else "installed"
        shown_as = {"from": __version__, "to": found.version, "backup": str(made.path), "outcome": outcome}
        say({**shown_as, "rehearsal": rehearsal.model_dump()}, as_json)


def _program(server: Serving | None) -> ProgramFile:
    own = own_program()
    if packing_form() == "folder":
        raise StorageError(
            "This wmsd was installed as a system package: install the newer package instead. At its start, "
            "the new version keeps a copy of each file that it migrates."
        )
    if own is None:
        raise StorageError(
            "This wmsd runs from its sources, so there is no program to upgrade. Get the new sources, run "
            "scripts/setup, and restart the server: it keeps a copy of each file that it migrates."
        )
    if server is None:
        return own
    if server.version != __version__:
        raise StorageError(
            f"The running server is wmsd {server.version or 'of an older version'}, but this command is wmsd "
            f"{__version__}. Use the program of the server."
        )
    check_runs(server.pid, own)
    return own


def _checked(file: Path, program: ProgramFile, key_file: Path | None, sha256: str | None) -> Described:
    taken = program.take(file)
    proof = check_release(file, program.new, taken, key_file, None if sha256 is None else sha256.strip().lower())
    found = describe_release(program, proof)
    note(f"{file} is wmsd {found.version}: {proof.sentence}.")
    return found


def _new_program(
    command_line: CommandLine, program: ProgramFile, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    config = [] if command_line.config_file is None else ["--config", str(command_line.config_file)]
    return subprocess.run(  # noqa: S603  (the program was checked)
        [program.new, *arguments, "--data", command_line.folder.path, *config],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **(env or {}), "PYINSTALLER_RESET_ENVIRONMENT": "1"},
    )


def _ask_for_settings(command_line: CommandLine, program: ProgramFile, server: Serving | None) -> None:
    """Let the new program check the settings. Raise StorageError if the new program refuses them.

    The check includes the address of the running server, which may come from the option --listen.
    """
    env = {} if server is None or not server.address else {"WMSD_SERVER_LISTEN": server.listen}
    if _new_program(command_line, program, "config", "check", env=env).returncode != 0:
        raise StorageError(
            "The new program does not accept the settings, for the reasons above. Nothing was changed."
        )


def _backup(command_line: CommandLine, loan: Loan | None) -> Made:
    folder = BackupFolder(command_line.backups)
    passphrase = passphrase_of(command_line, None)
    with progress_bar("Copying") as tell:
        made = Creation(command_line.folder, source_of(command_line.folder, loan), folder, passphrase, tell).make()
    note(f"A backup of everything was created: {made.path}")
    for each in made.manifest.left_out:
        note(f"{each.code} is not in the backup, so the trial run does not check it: {each.reason}")
    return made


def _rehearsed(command_line: CommandLine, program: ProgramFile, archive: Path) -> Rehearsal:
    done = _new_program(command_line, program, "upgrade", str(archive), "--rehearse")
    try:
        return Rehearsal.model_validate_json(done.stdout)
    except ValueError:
        raise StorageError("The trial run did not finish. Nothing was changed.") from None


def _print_rehearsal(rehearsal: Rehearsal, made: Made) -> None:
    if rehearsal.problems:
        note(f"The trial run on {made.path} found errors. Nothing was changed.")
        fail(rehearsal.problems)
    note(
        f"Trial run on copies: {rehearsal.migrated} of {rehearsal.files} files were migrated, in "
        f"{rehearsal.seconds:.1f} s (the slowest in {rehearsal.slowest:.1f} s), and doctor found no "
        "errors."
    )
    for change in rehearsal.changes:
        note(f"  {change.what}: {change.before} becomes {change.after}")


def _begin(
    command_line: CommandLine,
    program: ProgramFile,
    found: Described,
    made: Made,
    server: Serving | None,
    loan: Loan | None,
    seconds: float,
) -> ChangeOver | None:
    """Begin to replace the program of the running server. Return the ChangeOver: its method `finish` waits until
    the upgrade has ended.

    If no server runs, put the new program in place and return None. The next start then migrates the files.
    """
    upgrade = Upgrade(
        from_version=__version__,
        to_version=found.version,
        program=str(program.path),
        began_at=timestamps.to_text(datetime.now(UTC)),
        unavailable=[each.company_id for each in made.manifest.left_out],
    )
    if server is None or loan is None:
        write_upgrade(command_line.folder.path, upgrade)
        program.put_new()
        return None
    change = ChangeOver(command_line.folder, program, upgrade, server, seconds)
    note(f"The server restarts with wmsd {upgrade.to_version}. Requests wait until the files are migrated.")
    change.begin(loan)
    return change


def _why_not_healthy(command_line: CommandLine, was_healthy: bool, serving: Serving) -> str | None:
    """Return why the new server is not healthy, or None if it is healthy.

    If the previous server was not healthy either, return None.
    """
    has_tls = serving.has_tls(command_line.settings.server)
    found = ask_health(serving, has_tls)
    if not was_healthy or found in GOOD:
        return None
    return f"The health check of the new server at {url_of(serving, has_tls)} says: {found}."


def _print_end(command_line: CommandLine, found: Described, program: ProgramFile, serving: Serving | None) -> None:
    copies = KeptCopies(command_line.folder, found.version).path
    if serving is None:
        note(f"{program.path} is now wmsd {found.version}. Start the server: it migrates the files.")
    else:
        note(f"wmsd {found.version} serves {serving.listen} (process {serving.pid}).")
    note(
        f"The previous program is {program.previous}, and the previous files are in {copies}. Delete "
        "both when you do not need them any more."
    )
