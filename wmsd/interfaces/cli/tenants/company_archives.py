"""The commands `wmsd company export`, `wmsd company import` and `wmsd company clone`."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from wmsd.base.plurals import count_of
from wmsd.base.problems import Problem
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.secret_questions import ask_for_secret
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_of, passphrase_option, secret_for
from wmsd.interfaces.cli.tenants.freeze_company import company_freeze, thaw_of
from wmsd.maintenance.backups.archive import read_manifest
from wmsd.maintenance.backups.file_snapshots import source_of
from wmsd.maintenance.backups.manifest import CREDENTIALS, Manifest
from wmsd.maintenance.backups.unpack import secrets_of
from wmsd.maintenance.company_moves.deletion_store import who_had
from wmsd.maintenance.company_moves.export_import import (
    HadOperator,
    adopt,
    arrival_from_archive,
    arrival_from_copy,
    check_free,
    export_company,
    had_operator,
    here_already,
    subject,
)
from wmsd.maintenance.company_moves.freeze import Freeze
from wmsd.tenants.companies.actions import TAKEN


@click.command("export")
@click.argument("code")
@click.argument("file", metavar="FILE.tar.gz", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--freeze",
    "is_to_freeze",
    is_flag=True,
    help="Freeze the company first, so that FILE has all changes. `wmsd company thaw` ends the freeze.",
)
@passphrase_option
@json_option
@with_installation
def export_company_command(
    command_line: CommandLine,
    code: str,
    file: Path,
    is_to_freeze: bool,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Write the company CODE to FILE, for another installation.

    The command also works while the server runs. With a passphrase, FILE contains the credentials of the company's
    webhooks too. Without --freeze the company works as before, and changes after the start of this command are not
    in FILE.

    With --freeze the company can still be read, but it accepts no changes (503) and sends no webhooks. The freeze
    lasts until you run `wmsd company thaw CODE` or `wmsd company delete CODE`. If the export fails, the freeze
    ends automatically.
    """
    passphrase = passphrase_of(command_line, passphrase_file)
    command_line.find()
    freeze, manifest = write_export(command_line, code, file, passphrase, is_to_freeze)
    [written] = manifest.files
    shown = {"exported": code, "file": str(file), "bytes": written.bytes, "credentials": manifest.keys}
    say(shown if freeze is None else {**shown, "frozen_at": freeze.since}, as_json)
    note(
        "The tokens, users and sites of the company are not in the file, because they belong to this installation."
    )
    if manifest.keys == "left out":
        note("The credentials of the webhooks are not in the file. To include them, give --passphrase-file.")
    elif manifest.phrases:
        names = " or ".join(each.fingerprint for each in manifest.phrases)
        note(
            "The credentials of the webhooks are in the file. To import them, you need the recovery phrase "
            f"{names}."
        )
    if freeze is None:
        note(f"{code} still works here. New changes are not in the file; --freeze prevents new changes.")
        return
    note(
        f"{code} has been frozen since {freeze.since}: users and programs can read, but the company accepts no "
        "changes and sends no webhooks."
    )
    note(
        "Waiting webhook deliveries are in the file. They are sent when you switch the webhooks on in "
        "the other installation."
    )
    note(
        f"When the company works in the other installation: wmsd company delete {shlex.quote(code)}. If "
        f"the company stays here: {thaw_of(code)}"
    )


def write_export(
    command_line: CommandLine,
    code: str,
    file: Path,
    passphrase: str | None,
    is_to_freeze: bool,
) -> tuple[Freeze | None, Manifest]:
    """Export the company, and return the freeze and the manifest.

    The freeze is None if `is_to_freeze` is False.
    """
    check_free(file)
    with beside_a_server(command_line.folder) as loan:
        freezing = company_freeze(command_line, loan, code) if is_to_freeze else nullcontext()
        with freezing as freeze:
            return freeze, export_with(command_line, loan, code, file, passphrase)


def export_with(
    command_line: CommandLine, loan: Loan | None, code: str, file: Path, passphrase: str | None
) -> Manifest:
    found = command_line.run_with(loan, lambda at: subject(at, code, passphrase is not None))
    return export_company(command_line.folder, source_of(command_line.folder, loan), found, file, passphrase)


@click.command("import")
@click.argument("file", metavar="FILE.tar.gz", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--code",
    "new_code",
    metavar="CODE",
    help="Code of the company in this installation.  [default: the code in FILE]",
)
@click.option(
    "--operator",
    "operator_code",
    metavar="CODE",
    help="Operator of the company.  [default: the operator that the company had in this installation]",
)
@passphrase_option
@json_option
@with_installation
def import_company_command(
    command_line: CommandLine,
    file: Path,
    new_code: str | None,
    operator_code: str | None,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Import a company that `wmsd company export` wrote in another installation.

    The company gets a new id, and its webhooks are off: switch them on when the other installation no longer sends
    webhooks.
    """
    command_line.find()
    passphrase = _secret(command_line, file, passphrase_file)
    bring_in(command_line, file, new_code, operator_code, passphrase, as_json)


def bring_in(
    command_line: CommandLine,
    file: Path,
    new_code: str | None,
    operator_code: str | None,
    passphrase: str | None,
    as_json: bool | None,
) -> None:
    """Import the company from the archive, and print the result.

    `as_json` is None in a move, which prints the result itself.
    """
    with (
        beside_a_server(command_line.folder) as loan,
        arrival_from_archive(file, command_line.folder, passphrase) as arrival,
    ):
        code, had = new_code or arrival.origin.code, arrival.origin.code
        same = command_line.run_with(loan, lambda at: here_already(at, arrival.origin))
        operator = command_line.run_with(loan, lambda at: had_operator(at, arrival))
        if operator_code is not None:
            operator = None  # the previous operator does not matter any more
        elif operator is not None and operator.is_same:
            operator_code = operator.code
        record = arrival.record.model_copy(update={"operator_code": operator_code})
        with _named(code):
            done = command_line.run_with(loan, lambda at: adopt(at, arrival, code, record, is_copy=False))
        users = command_line.run_with(loan, lambda at: at.platform.read(lambda tx: who_had(tx, had)))
    if as_json is None:
        return
    say({"id": done.id, "code": code, "name": record.name, "webhooks_off": done.webhooks}, as_json)
    note(f"The company has the id {done.id} in this installation: integrators send X-Company-Id: {done.id}.")
    note(
        "The records (with their ids and codes), the stock, the history and the event numbers of the company "
        "are unchanged."
    )
    if same:
        note(
            f"The same company is already in this installation as {' and '.join(same)}. Changes in one of "
            "these companies do not appear in the others."
        )
    if operator is not None:
        _note_operator(code, operator)
    _note_what_lacks(code, had, users)
    if done.webhooks:
        credentials = "were imported" if arrival.credentials is not None else "were not imported: set them again"
        off = count_of(done.webhooks, "webhook is", "webhooks are")
        note(
            f"{off} off, and the credentials {credentials}. When the other installation no longer sends "
            "webhooks, switch each webhook on (wmsd webhook on): wmsd then sends the queued webhook "
            "deliveries."
        )


def _secret(command_line: CommandLine, file: Path, passphrase_file: Path | None) -> str | None:
    """Return the passphrase for the credentials in the archive: from a file, from the settings, or typed at a
    terminal.

    Return None if there is none. The import then continues without the credentials.
    """
    manifest = read_manifest(file)
    found = secret_for(command_line, manifest, passphrase_file)
    if manifest.company is None or manifest.keys != "encrypted" or found is not None:
        return found

    def open_with(typed: str) -> None:
        nonlocal found
        secrets_of(file, manifest, CREDENTIALS, typed)
        found = typed

    otherwise = "imports the company without them; then set them again"
    ask_for_secret(manifest, "The credentials of the webhooks", otherwise, open_with)
    return found


@contextmanager
def _named(code: str) -> Iterator[None]:
    """If the work inside the context fails because a company with this code exists, raise a Problem. It names the
    code and the option --code.

    The user may not know the code, because it comes from the archive.
    """
    try:
        yield
    except Problem as problem:
        if TAKEN not in problem.errors.get("code", ()):
            raise
        raise Problem(
            problem.code, f"The company {code} already exists. Give another code with --code. Nothing was changed."
        ) from None


def _note_operator(code: str, had: HadOperator) -> None:
    if had.is_same:
        note(f"The operator of the company is {had.code}, as before.")
        return
    also = "" if had.is_here else " when this operator exists"
    change = f"wmsd company change {shlex.quote(code)} --operator {shlex.quote(had.code)}"
    note(
        f"The company had the operator {had.code}, and now has no operator. To set {had.code} "
        f"again{also}: {change}"
    )


def _note_what_lacks(code: str, had: str, users: Sequence[str]) -> None:
    """Print what was not imported, and how to create it.

    `users` are the e-mail addresses of users who had access to the company until it was deleted here. `had` is the
    company's code at that time, and `code` is its new code.
    """
    if not users:
        note("Tokens, users and sites were not imported. Create them with wmsd token, user and site.")
        return
    note("Tokens and sites were not imported. Create them with wmsd token and site.")
    note(f"These users had access to {had} here until the company was deleted. To give a user access again:")
    for email in users:
        note(f"  wmsd user change {shlex.quote(email)} --add-company {shlex.quote(code)}")


@click.command("clone")
@click.argument("code")
@click.argument("field_code", metavar="NEW_CODE")
@click.option("--name", help="Name of the copy.  [default: the name of the company, followed by (copy)]")
@click.option("--sandbox/--no-sandbox", default=True, help="A test company (sandbox), or a live company.")
@json_option
@with_installation
def clone_company_command(
    command_line: CommandLine, code: str, field_code: str, name: str | None, sandbox: bool, as_json: bool
) -> None:
    """Copy the company CODE to the new company NEW_CODE, for practice.

    The command also works while the server runs. The copy sends no webhooks: its webhooks are off, and queued
    webhook deliveries are skipped.
    """
    command_line.find()
    with beside_a_server(command_line.folder) as loan:
        found = command_line.run_with(loan, lambda at: subject(at, code, has_passphrase=False))
        record = found.record.model_copy(
            update={"name": name or f"{found.record.name} (copy)", "sandbox": sandbox}
        )
        with arrival_from_copy(command_line.folder, source_of(command_line.folder, loan), found) as arrival:
            done = command_line.run_with(loan, lambda at: adopt(at, arrival, field_code, record, is_copy=True))
    say({"id": done.id, "code": field_code, "name": record.name, "sandbox": sandbox}, as_json)
    note(
        f"The copy has the id {done.id}. Tokens of {code} give no access to the copy, except tokens of "
        "platform admins for all companies."
    )
    note("The copy sends no webhooks: its webhooks are off, and queued webhook deliveries are skipped.")
