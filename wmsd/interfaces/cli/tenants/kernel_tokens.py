"""The command `wmsd kernel-token`."""

import click

from wmsd.contract.fields import MAX_ID
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, say_token, with_installation
from wmsd.tenants.accounts import kernel_tokens
from wmsd.tenants.accounts.kernel_tokens import MadeKernelToken


@click.group()
def kernel_token_command() -> None:
    """Create, replace and revoke the platform token.

    With this token, programs of the platform admin can use the kernel interface, /api/kernel/v1, and nothing else.
    A running server applies changes within a second.
    """


@kernel_token_command.command("create")
@json_option
@with_installation
def create_token(command_line: CommandLine, as_json: bool) -> None:
    """Create the platform token. The token is printed on standard output only once: keep it safe."""
    _show(command_line.write(kernel_tokens.create), "The platform token. It is shown only now.", as_json)


@kernel_token_command.command("rotate")
@click.option(
    "--at-once",
    is_flag=True,
    help="Refuse all other platform tokens immediately, for instance because a token leaked.",
)
@json_option
@with_installation
def rotate_token(command_line: CommandLine, at_once: bool, as_json: bool) -> None:
    """Create a new platform token. The previous token is accepted for another 24 hours.

    The new token is printed on standard output only once: keep it safe.
    """
    made = command_line.write(lambda tx: kernel_tokens.rotate(tx, at_once))
    until = (
        ("All other platform tokens are now refused")
        if at_once
        else ("The previous platform token works for another 24 hours")
    )
    _show(made, f"The new platform token. It is shown only now. {until}.", as_json)


def _show(made: MadeKernelToken, sentence: str, as_json: bool) -> None:
    note(sentence)
    say_token(made.model_dump(), as_json)


@kernel_token_command.command("list")
@json_option
@with_installation
def list_tokens(command_line: CommandLine, as_json: bool) -> None:
    """List all platform tokens, including revoked ones, without their text."""
    say(
        command_line.read(kernel_tokens.every),
        as_json,
        "No platform token yet. To create a token: wmsd kernel-token create",
    )


@kernel_token_command.command("revoke")
@click.argument("token_id", metavar="ID", type=click.IntRange(1, MAX_ID))
@with_installation
def revoke_token(command_line: CommandLine, token_id: int) -> None:
    """Revoke the platform token with this ID (see `wmsd kernel-token list`)."""
    is_new = command_line.write(lambda tx: kernel_tokens.revoke(tx, token_id))
    note(f"Platform token {token_id} {'is revoked' if is_new else 'was already revoked'}.")
