"""`wmsd kernel-token`."""

from typing import Any

import click

from wmsd.accounts import kernel_tokens
from wmsd.accounts.kernel_tokens import Made
from wmsd.app.site import Site
from wmsd.base.fields import MAX_ID
from wmsd.interfaces.cli.installation import Installation, installed, json_option, note, say


@click.group()
def kernel_token_command() -> None:
    """Make, replace and revoke the platform token.

    With it, the programs of those who run the platform use the kernel interface, /api/kernel/v1, and nothing else.
    A running server follows within a second.
    """


@kernel_token_command.command("create")
@json_option
@installed
def create_token(installation: Installation, as_json: bool) -> None:
    """Make the platform token. It is printed on standard output, only this once: keep it safe."""

    async def work(site: Site) -> Made:
        return await site.platform.write(kernel_tokens.create)

    _show(installation.run(work), "The platform token. It is shown this once.", as_json)


@kernel_token_command.command("rotate")
@click.option("--at-once", is_flag=True, help="Refuse all others from now on, for instance when one leaked.")
@json_option
@installed
def rotate_token(installation: Installation, at_once: bool, as_json: bool) -> None:
    """Make a new platform token. The one before it is accepted for another 24 hours.

    The new one is printed on standard output, only this once: keep it safe.
    """

    async def work(site: Site) -> Made:
        return await site.platform.write(lambda tx: kernel_tokens.rotate(tx, at_once))

    until = "No other is accepted any more" if at_once else "The one before it is accepted for another 24 hours"
    _show(installation.run(work), f"The new platform token. It is shown this once. {until}.", as_json)


def _show(made: Made, sentence: str, as_json: bool) -> None:
    note(sentence)
    if as_json:
        say({"id": made.id, "token": made.token, "created_at": made.created_at}, as_json)
    else:
        click.echo(made.token)


@kernel_token_command.command("list")
@json_option
@installed
def list_tokens(installation: Installation, as_json: bool) -> None:
    """List all platform tokens, also revoked ones, without their text."""

    async def work(site: Site) -> list[dict[str, Any]]:
        return await site.platform.read(kernel_tokens.every)

    say(installation.run(work), as_json, "No platform token yet: wmsd kernel-token create")


@kernel_token_command.command("revoke")
@click.argument("token_id", metavar="ID", type=click.IntRange(1, MAX_ID))
@installed
def revoke_token(installation: Installation, token_id: int) -> None:
    """Revoke the platform token with this ID (see `wmsd kernel-token list`)."""

    async def work(site: Site) -> bool:
        return await site.platform.write(lambda tx: kernel_tokens.revoke(tx, token_id))

    note(f"Platform token {token_id} {'is revoked' if installation.run(work) else 'was revoked before'}.")
