"""The command `wmsd site`."""

from datetime import timedelta

import click

from wmsd.contract.validation import validate_model
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, say_token, with_installation
from wmsd.interfaces.cli.kit.company_data import company_in_use
from wmsd.platform.sites import active_warehouse
from wmsd.tenants.keys.bearers import GRACE
from wmsd.tenants.sites import actions, store
from wmsd.tenants.sites.actions import NEEDED_MODULES, site_of_warehouse
from wmsd.tenants.sites.schema import NewSite

company_argument = click.argument("company", metavar="COMPANY")
warehouse_argument = click.argument("warehouse", metavar="WAREHOUSE")


@click.group()
def site_command() -> None:
    """Create, rotate and revoke the tokens of sites, for the transport integration.

    A site is a warehouse of a company: WAREHOUSE and COMPANY are their codes. A running server applies changes
    within a second.
    """


@site_command.command("create")
@company_argument
@warehouse_argument
@click.option(
    "--name",
    required=True,
    help=("The name of the site. Movements and changes by the site's program show this name."),
)
@json_option
@with_installation
def create_site(command_line: CommandLine, company: str, warehouse: str, name: str, as_json: bool) -> None:
    """Create a site. Its token is printed on standard output only once: keep it safe."""
    new = validate_model(NewSite, {"name": name})

    async def work(installation: Installation) -> tuple[int, str, list[str]]:
        installation.folder.check_space()
        found, database = await company_in_use(installation, company)
        warehouse_id = await database.read(lambda tx: active_warehouse(tx, warehouse))
        site_id, token = await installation.platform.write(
            lambda tx: actions.create_site(tx, company, warehouse_id, warehouse, new)
        )
        return site_id, token, [module for module in NEEDED_MODULES if module not in found.modules]

    site_id, token, off = command_line.run(work)
    note(f"The token of {name} (warehouse {warehouse} of {company}). It is shown only now.")
    if off:
        note(
            "The token does not work yet, because modules are off. To switch them on: wmsd module enable "
            f"{company} {' '.join(off)}"
        )
    say_token({"id": site_id, "company": company, "warehouse": warehouse, "token": token}, as_json)


@site_command.command("list")
@json_option
@with_installation
def list_sites(command_line: CommandLine, as_json: bool) -> None:
    """List the sites of all companies, without their tokens."""
    say(
        command_line.read(store.sites),
        as_json,
        "No sites yet. To create a site: wmsd site create COMPANY WAREHOUSE --name NAME",
    )


@site_command.command("rotate")
@company_argument
@warehouse_argument
@click.option("--at-once", is_flag=True, help="End the previous token now, not after 24 hours.")
@json_option
@with_installation
def rotate_site(command_line: CommandLine, company: str, warehouse: str, at_once: bool, as_json: bool) -> None:
    """Give a site a new token, printed only once. The previous token works for another 24 hours."""

    async def work(installation: Installation) -> tuple[int, str]:
        installation.folder.check_space(is_move=True)
        return await installation.platform.write(
            lambda tx: actions.rotate_site(tx, site_of_warehouse(tx, company, warehouse), at_once)
        )

    site_id, token = command_line.run(work)
    ends = "is now refused" if at_once else f"works for another {GRACE // timedelta(hours=1)} hours"
    note(
        f"The new token of the warehouse {warehouse} of {company}. It is shown only now. The previous "
        f"token {ends}."
    )
    say_token({"id": site_id, "company": company, "warehouse": warehouse, "token": token}, as_json)


@site_command.command("revoke")
@company_argument
@warehouse_argument
@with_installation
def revoke_site(command_line: CommandLine, company: str, warehouse: str) -> None:
    """Revoke all tokens of a site. `wmsd site rotate` gives it a new one."""
    is_new = command_line.write(lambda tx: actions.revoke_site(tx, site_of_warehouse(tx, company, warehouse)))
    note(f"The site {warehouse} of {company} {'is revoked' if is_new else 'was already revoked'}.")
