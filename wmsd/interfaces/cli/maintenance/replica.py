"""The command `wmsd replica`."""

import sys
from pathlib import Path

import click

from wmsd.base.plurals import count_of
from wmsd.data_folder.litestream import find_program
from wmsd.data_folder.litestream_configuration import configuration
from wmsd.data_folder.new_epoch import LEAST_LEAP
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.interfaces.cli.maintenance.restore_report import sentence_of_access
from wmsd.interfaces.cli.server.new_folder import refuse_foreign_files
from wmsd.maintenance.replica.replica_verdict import replica_verdict
from wmsd.maintenance.replica.restore_replica import Replica, TakenOver


@click.group("replica")
def replica_command() -> None:
    """Keep a second copy of everything, a second or two behind, and serve from it when this machine is lost.

    Litestream (https://litestream.io), a separate program, copies the files to another machine or disk. The guide
    has a page on it: /docs/replica.
    """


@replica_command.command("config")
@click.argument("address", metavar="REPLICA")
@with_installation
def config(command_line: CommandLine, address: str) -> None:
    """Print a Litestream configuration that copies this data folder to REPLICA.

    REPLICA is a folder on another disk or machine, or an address that begins with sftp:// or s3://.
    """
    command_line.find()
    folder = command_line.folder
    number = len(list(folder.companies.glob("*.db")))
    click.echo(configuration(folder.path, address, number), nl=False)
    if not command_line.settings.replica.enabled:
        note(
            "Litestream can read the data only if replica.enabled = true. Change this setting, and restart the "
            "server."
        )


@replica_command.command("status")
@json_option
@with_installation
def status(command_line: CommandLine, as_json: bool) -> None:
    """Show whether the replica is complete, and exit with 1 if it is not."""
    command_line.find()
    found = replica_verdict(command_line.folder)
    say({"ok": found.ok, "replica": found.sentence, "behind": list(found.behind)}, as_json)
    wrong = [] if found.ok else [found.sentence.rstrip(".") + "."]
    if not command_line.settings.replica.enabled:
        wrong.append("replica.enabled is not set, so the server does not share its files with Litestream.")
    if wrong:
        fail(wrong)


@replica_command.command("restore")
@click.argument("address", metavar="REPLICA")
@click.option(
    "--litestream",
    "program",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The Litestream program.  [default: litestream on the PATH]",
)
@json_option
@with_installation
def restore(command_line: CommandLine, address: str, program: Path | None, as_json: bool) -> None:
    """Copy everything from REPLICA into an empty data folder, to serve from there.

    For each company, the command prints the last change that the replica contains. Changes of the last second or
    two are missing; their number is not known. Therefore ids, codes and the numbers of events and webhook
    deliveries skip at least 10 000, so that no number is used twice. wmsd must not run on the previous machine any
    more.
    """
    found = find_program(program)
    folder = command_line.folder
    command_line.say_folder()
    refuse_foreign_files(command_line)
    folder.make_place()
    folder.lock("no address")
    try:
        done = Replica(found, address, folder).take_over(_told)
    finally:
        folder.unlock()
    _print_restored(done, as_json)
    if done.failed:
        sys.exit(1)


def _told(code: str, done: int, number: int) -> None:
    if sys.stderr.isatty():
        note(f"{done} of {number}: {code}")


def _print_restored(done: TakenOver, as_json: bool) -> None:
    rows = [each._asdict() for each in done.taken]
    if as_json:
        failed = [{"code": code, "reason": reason} for code, reason in done.failed.items()]
        shown = {"companies": rows, "failed": failed, "seconds": round(done.seconds, 1)}
        say({**shown, "access_unknown_after": done.access_unknown_after}, as_json)
    else:
        say(rows, as_json, empty="The replica has no companies.")
    for each in done.taken:
        if each.known_missing:
            events = count_of(each.known_missing, "event")
            note(
                f"{each.code} lacks at least {events} after event {each.last_event}, because these changes "
                "were not replicated."
            )
    for code, reason in done.failed.items():
        note(f"{code} was not restored: {reason}")
    note(sentence_of_access(done.access_unknown_after))
    note(
        f"Restored in {done.seconds:.1f} s. Changes that were not replicated are lost, and new record numbers "
        f"are at least {LEAST_LEAP} higher. Start `wmsd serve` now, and make sure that the other machine no "
        "longer serves."
    )
