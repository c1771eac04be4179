"""The command `wmsd company`."""

import shlex
from pathlib import Path
from typing import Any

import click

from wmsd.base.problems import refuse_errors
from wmsd.contract.access import MODULES
from wmsd.contract.context import Company
from wmsd.contract.validation import validate_model
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_in_use
from wmsd.interfaces.cli.kit.operations import SITE_ADMIN
from wmsd.interfaces.cli.maintenance.backup_options import passphrase_option
from wmsd.interfaces.cli.tenants.company_archives import (
    clone_company_command,
    export_company_command,
    import_company_command,
)
from wmsd.interfaces.cli.tenants.company_papers import company_papers_command
from wmsd.tenants.companies import actions, company_administration, store
from wmsd.tenants.companies.schema import CompanyCode, NewCompany


@click.group()
def company_command() -> None:
    """Create, change and show companies. Each company is a tenant with a separate file."""


for each in (export_company_command, import_company_command, clone_company_command, company_papers_command):
    company_command.add_command(each)


@company_command.command("create")
@click.argument("code")
@click.option("--name", required=True, help="The name that people see.")
@click.option(
    "--operator", "operator_code", metavar="CODE", help="The operator that runs the warehouse of the company."
)
@click.option(
    "--sandbox",
    is_flag=True,
    help="Create a test company: lower limits, and no webhooks unless the operator allows them.",
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="M",
    help=f"Switch this module on; repeat the option for several. One of: {', '.join(MODULES)}.",
)
@click.option("--all-modules", is_flag=True, help="Switch all modules on.")
@click.option("--init", is_flag=True, help="Create the data folder if it does not exist.")
@json_option
@with_installation
def create_company(
    command_line: CommandLine,
    code: str,
    name: str,
    operator_code: str | None,
    sandbox: bool,
    modules: tuple[str, ...],
    all_modules: bool,
    init: bool,
    as_json: bool,
) -> None:
    """Create the company CODE.

    A company without modules cannot be used: give --all-modules, or --module for each module that you need. Any
    other module also switches on the module api.
    """
    chosen = list(MODULES) if all_modules else list(dict.fromkeys(modules))
    if chosen and "api" not in chosen:
        chosen.insert(0, "api")
    new = validate_model(
        NewCompany,
        {"code": code, "name": name, "operator_code": operator_code, "sandbox": sandbox, "modules": chosen},
    )
    refuse_errors(actions.check_modules(chosen))
    if init:
        command_line.make_folder()

    async def work(installation: Installation) -> int:
        installation.folder.check_space()
        return await installation.platform.write(
            lambda tx: actions.create_company(tx, new, installation.files.create)
        )

    company_id = command_line.run(work)
    say({"id": company_id, "code": code, "name": name, "modules": chosen}, as_json)
    if not chosen:
        note(f"No modules are on yet. To switch all on: wmsd module enable {code} --all")


@company_command.command("change")
@click.argument("code")
@click.option("--name", help="The new name.")
@click.option(
    "--operator", "operator_code", metavar="CODE", help="The new operator that runs the warehouse of the company."
)
@click.option("--no-operator", is_flag=True, help="Remove the operator from the company.")
@click.option("--sandbox/--no-sandbox", default=None, help="A test company (sandbox), or a live company.")
@click.option(
    "--requests-per-minute",
    type=int,
    metavar="N",
    help="Limit of data requests of this company; 0: the installation's limit.",
)
@click.option(
    "--graphql-per-minute",
    type=int,
    metavar="N",
    help="Limit of GraphQL requests of this company; 0: the installation's limit.",
)
@click.option(
    "--quota-megabytes",
    type=int,
    metavar="N",
    help="Largest size of the company's file, in millions of bytes; 0: the installation's limit.",
)
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="Time zone for pages, documents and due dates, such as Europe/Bucharest; '': the installation's "
    "time zone.",
)
@click.option(
    "--over-receipt-pct",
    metavar="P",
    help="Percentage that may be received above the ordered quantity, for articles without their own "
    "limit: 0 to 100, such as 2.5.",
)
@click.option(
    "--min-stock",
    metavar="N",
    help="Available stock at which wmsd sends stock.low, for articles without their own min_stock; none: "
    "wmsd does not send stock.low for these articles.",
)
@with_installation
def change_company(command_line: CommandLine, /, code: str, **given: Any) -> None:
    """Change the company CODE. A running server applies the change within a second."""
    # imported only here, so that other commands start faster
    from wmsd.interfaces.cli.tenants import change_company as company_changes

    company_changes.change(command_line, code, given)


@company_command.command("rename")
@click.argument("code")
@click.argument("field_code", metavar="NEW_CODE")
@with_installation
def rename_company(command_line: CommandLine, code: str, field_code: str) -> None:
    """Change the code of a company from CODE to NEW_CODE.

    The company's id stays, so programs that send the id notice nothing. In commands and in rules of single
    sign-on, use the new code.
    """
    rename = company_administration.rename_company_record.action
    body = validate_model(CompanyCode, {"code": field_code})
    command_line.write(lambda tx: rename(tx, SITE_ADMIN, actions.company_of_code(tx, code).id, body))
    note(f"{code} is now called {field_code}.")
    providers = command_line.settings.sign_on.providers
    if any(code in rule.companies for provider in providers for rule in provider.rules):
        note(
            f"Rules of single sign-on still name {code}. Change the code in sign_on.providers, and restart "
            "the server."
        )


@company_command.command("delete")
@click.argument("code")
@click.option("--yes", is_flag=True, help="Do not ask for the code of the company.")
@click.option(
    "--archive-folder",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the company's archive.  [default: archive, in the backup folder]",
)
@passphrase_option
@click.option(
    "--without-archive",
    is_flag=True,
    help="For a company whose file is damaged or missing: write no archive, and move the file to a "
    "separate folder.",
)
@json_option
@with_installation
def delete_company(
    command_line: CommandLine,
    code: str,
    yes: bool,
    folder: Path | None,
    passphrase_file: Path | None,
    without_archive: bool,
    as_json: bool,
) -> None:
    """Delete the company CODE with all its data, after writing it to an archive.

    A running server stops serving the company immediately: requests that name it are answered as for an unknown
    company. Tokens that are for this company only are revoked. If the command is interrupted, nothing is lost: run
    it again.
    """
    from wmsd.interfaces.cli.tenants import delete_company as company_deleting  # imported only here

    if without_archive:
        if yes or folder or passphrase_file:
            raise click.UsageError(
                "Do not combine --without-archive with --yes, --archive-folder or --passphrase-file."
            )
        company_deleting.delete_without_archive(command_line, code, as_json)
        return
    company_deleting.delete(command_line, code, yes, folder, passphrase_file, as_json)


@company_command.command("list")
@json_option
@with_installation
def list_companies(command_line: CommandLine, as_json: bool) -> None:
    """List the companies."""
    rows = [_row(company) for company in command_line.read(store.companies)]
    say(rows, as_json, "No companies yet. To create a company: wmsd company create CODE --name NAME --all-modules")


@company_command.command("show")
@click.argument("code")
@json_option
@with_installation
def show_company(command_line: CommandLine, code: str, as_json: bool) -> None:
    """Show the company CODE, with its limits, its quota and its rules."""
    from wmsd.platform import company_policies  # imported only here

    async def work(installation: Installation) -> dict[str, Any]:
        company, database = await company_in_use(installation, code)
        return {
            **_row(company),
            "graphql_per_minute": company.graphql_per_minute,
            "quota_megabytes": company.quota_megabytes,
            "time_zone": company.time_zone,
            **await database.read(company_policies.policies_as_json),
        }

    say(command_line.run(work), as_json)


def _row(company: Company) -> dict[str, Any]:
    return {
        "id": company.id,
        "code": company.code,
        "name": company.name,
        "operator": company.operator.code if company.operator else None,
        "sandbox": company.sandbox,
        "requests_per_minute": company.requests_per_minute,
        "modules": [module for module in MODULES if module in company.modules],
        "frozen_at": company.frozen_at,
        "suspended_at": company.suspended_at,
    }


@company_command.command("move")
@click.argument("code")
@click.option(
    "--to",
    metavar="TARGET",
    help="Move to the data folder of another installation on this machine, or to a new FILE.tar.gz for "
    "another machine.",
)
@click.option(
    "--check",
    "to_check",
    metavar="TARGET",
    help="Check the move: the data folder of --to, or the address of the other machine.",
)
@click.option(
    "--code",
    "new_code",
    metavar="CODE",
    help="Code of the company in the other installation.  [default: the present code]",
)
@click.option(
    "--operator", "operator_code", metavar="CODE", help="Operator of the company in the other installation."
)
@click.option(
    "--target-config",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Configuration file of the other installation on this machine.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="For --check: file whose first line is a token of the other machine.",
)
@passphrase_option
@json_option
@with_installation
def move_company(
    command_line: CommandLine, /, code: str, to: str | None, to_check: str | None, **given: Any
) -> None:
    """Move the company CODE to another installation, so that nothing is lost or sent twice.

    The command first freezes the company: it can be read, but accepts no changes. If --to is the data folder of
    another installation on this machine, the command imports the company there. If --to is a FILE.tar.gz, the
    command prints what to type on the other machine. Then the command lists what does not move (users, tokens,
    sites, the company's id), and marks what is done.

    --check shows this list again at any time. Name the same data folder as for --to, or the address of the other
    installation. With an address, --check asks the API there. The move deletes nothing here: when everything is
    done, run `wmsd company delete`. To cancel the move, run `wmsd company thaw`.
    """
    from wmsd.interfaces.cli.tenants import move_company as company_moving  # imported only here

    if (to is None) == (to_check is None):
        raise click.UsageError("Give --to to move the company, or --check to show the progress of a move.")
    asked = company_moving.Moving(code, to or to_check or "", **given)
    (company_moving.check if to is None else company_moving.move)(command_line, asked)


@company_command.command("thaw")
@click.argument("code")
@with_installation
def thaw_company(command_line: CommandLine, code: str) -> None:
    """End the freeze of the company CODE: the company accepts changes again, and sends its webhooks.

    `wmsd company export --freeze` and `wmsd company move` start a freeze. `wmsd status` lists the frozen
    companies.
    """
    from wmsd.interfaces.cli.tenants import freeze_company  # imported only here

    freeze_company.thaw(command_line, code)


@company_command.command("suspend")
@click.argument("code")
@click.option("--reason", metavar="TEXT", help="The reason that users and programs of the company see.")
@with_installation
def suspend_company(command_line: CommandLine, code: str, reason: str | None) -> None:
    """Block all use of the company CODE, until `wmsd company resume`.

    Within two seconds the company's tokens, pages and sites are refused with 403, its imports end, and its
    webhooks wait. The company's data stays, and backups continue. Changes that have started are finished.
    """
    is_new = command_line.write(lambda tx: actions.suspend_company(tx, code, reason))
    note(f"{code} is suspended." if is_new else f"{code} is already suspended. Nothing was changed.")
    note(f"To end the suspension: wmsd company resume {shlex.quote(code)}")


@company_command.command("resume")
@click.argument("code")
@with_installation
def resume_company(command_line: CommandLine, code: str) -> None:
    """End the suspension of the company CODE: the company can be used again.

    The company's waiting webhook deliveries are sent.
    """
    was_suspended = command_line.write(lambda tx: actions.resume_company(tx, code))
    note(
        f"{code} is not suspended any more." if was_suspended else f"{code} is not suspended. Nothing was changed."
    )
