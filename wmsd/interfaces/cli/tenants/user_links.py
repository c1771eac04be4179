"""`wmsd user`: links that work once, at which somebody chooses a password. They are operations of the pages."""

from collections.abc import Mapping
from typing import Any, Final

import click

from wmsd.base.problems import Problem
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note, with_installation
from wmsd.interfaces.cli.kit.operations import act
from wmsd.interfaces.cli.kit.shown_address import address_of_links, is_of_this_machine
from wmsd.interfaces.cli.tenants.change_user import active, email_argument
from wmsd.interfaces.pages.kit.addresses import FIRST_ADMIN, WELCOME
from wmsd.tenants.accounts import invitations, user_administration
from wmsd.tenants.one_time_links import first_admin

WORKS_ONCE: Final = f"It works once, for {invitations.LIFETIME.days} days."
ON_THIS_MACHINE: Final = (
    "With {} it opens on this machine only. For others, put the address at which they reach wmsd in its place, or "
    "set server.listen first."
)


def link_to_password(command_line: CommandLine, made: Mapping[str, Any]) -> str:
    """Tells what to do with the link, and returns it. `made` is what the operations of the pages answer."""
    note(
        f"Send this link to {made['email']} and to nobody else: whoever has it chooses the password. {WORKS_ONCE}"
    )
    return _link(command_line, WELCOME, made["code"])


def _link(command_line: CommandLine, page: str, code: str) -> str:
    address = address_of_links(command_line)
    if is_of_this_machine(address):
        note(ON_THIS_MACHINE.format(address))
    return f"{address}{page}?code={code}"


@click.command("reset-password")
@email_argument
@with_installation
def reset_password(command_line: CommandLine, email: str) -> None:
    """Make a link at which the user EMAIL chooses a new password, because it has forgotten its own.

    Standard output gets only the link, and only this once. It works once, for a week, and a link from before does
    not work any more. The password of today stays until then.
    """

    async def work(installation: Installation) -> dict[str, Any]:
        user = await installation.platform.read(lambda tx: active(tx, email))
        return dict(await act(installation, user_administration.renew_invitation, id=user.id))

    made = command_line.run(work)
    note("A link from before does not work any more.")
    click.echo(link_to_password(command_line, made))


@click.command("first-admin-link")
@with_installation
def first_admin_link(command_line: CommandLine) -> None:
    """Make a new link for the first admin, because the one that the server printed is lost.

    Standard output gets only the link. It works once, for a day, and ends the one before. There is none when there
    is an admin already.
    """
    code = command_line.write(first_admin.offer)
    if code is None:
        raise Problem(
            "INVALID_STATUS",
            "This installation has an admin already. `wmsd user list` shows who it is, and `wmsd user "
            "reset-password` makes a link to a new password.",
        )
    note("Open this link in a browser. It works once, for a day.")
    click.echo(_link(command_line, FIRST_ADMIN, code))


COMMANDS: Final = (reset_password, first_admin_link)
