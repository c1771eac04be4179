"""What `wmsd company delete --without-archive` does: the end of a company whose file is damaged or missing."""

import click

from wmsd.contract.context import Company
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, say
from wmsd.interfaces.cli.tenants.delete_company import finish_others, note_users, run_with_platform
from wmsd.maintenance.company_moves import delete as deleting
from wmsd.maintenance.company_moves import deletion_store


def delete(command_line: CommandLine, code: str, as_json: bool) -> None:
    company = command_line.run(lambda installation: _company(installation, code))
    _ask(command_line, company, code)
    with beside_a_server(command_line.folder) as loan:
        if loan is not None:
            loan.borrow(command_line.folder.platform_file)
        if finish_others(command_line, code):
            return
        begun = run_with_platform(command_line, lambda installation: deleting.begin(installation, code))
        aside, left = _delete(command_line, loan, begun.company)
    say({"deleted": code, "archive": None, "folder": str(aside.path), **left._asdict()}, as_json)
    note_users(left, code)
    note(f"What is left of it is in {aside.path}: no backup has that folder, and nothing deletes it.")


async def _company(installation: Installation, code: str) -> Company:
    return (await installation.platform.read(lambda tx: deletion_store.find(tx, code))).company


def _ask(command_line: CommandLine, company: Company, code: str) -> None:
    """Says what is lost. Raises ClickException when the code is not typed."""
    path = command_line.folder.companies / f"{company.id}.db"
    note(f"{code} ({company.name}) would be deleted without an archive.")
    note(
        "You lose its articles, partners, clients, warehouses, stock with its ledger, orders, webhooks and "
        "history, unless an older backup has them (`wmsd backup list`)."
    )
    aside = ", ".join(map(str, deleting.left_aside(command_line.folder, company)))
    if path.exists():
        note(f"{path} is kept as it is, in a folder of its own.")
    else:
        note(f"{path} is in {aside} already." if aside else f"{path} is missing: nothing of it is kept.")
    if click.prompt("It cannot be brought back. Type the code to go on", err=True) != code:
        raise click.ClickException("That is not the code. Nothing was changed.")


def _delete(
    command_line: CommandLine, loan: Loan | None, company: Company
) -> tuple[deleting.Aside, deleting.Left]:
    """Until the platform has forgotten the company, its file is put back when something fails."""
    aside = deleting.Aside(command_line.folder, company)
    try:
        deleting.close_as_it_is(command_line.folder, loan, company)
        rows = run_with_platform(command_line, lambda installation: deleting.rows_of(installation, company))
        aside.put(rows)
        left = run_with_platform(
            command_line, lambda installation: deleting.end(installation, company, None, aside.path)
        )
    except BaseException:
        if run_with_platform(command_line, lambda installation: deleting.give_up(installation, company)):
            aside.put_back()
        raise
    deleting.remove_files(command_line.folder, company.id)
    return aside, left
