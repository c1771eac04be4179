"""The command `wmsd token`."""

import re
import shlex
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final

import click

from wmsd.base.problems import Problem
from wmsd.contract.access import EVERYTHING, abilities_in_force
from wmsd.contract.fields import MAX_ID, Input, Name
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.questions import confirm, yes_option
from wmsd.interfaces.cli.tenants.change_user import active
from wmsd.tenants.accounts import actions, token_store
from wmsd.tenants.accounts.rules import User

ABILITIES_HELP: Final = (
    "What the token may do; repeat the option for several. One of: "
    f"{', '.join(abilities_in_force(False))}, or * for everything; also returns:write, if the "
    "settings require it."
)
ROTATE: Final = (
    "Tokens and sessions of the present key still work. Tokens and sessions of older keys end "
    "permanently.\nSign new tokens with a new key?"
)


@click.group()
def token_command() -> None:
    """Create, list and revoke API tokens."""


class TokenName(Input):
    name: Name


class Lifetime(click.ParamType[timedelta]):
    """A duration such as `90d` or `12h`."""

    name = "90d"
    UNITS: ClassVar = {"d": "days", "h": "hours"}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([1-9][0-9]{0,5})([dh])", str(value), re.ASCII)
        if not found:
            self.fail(f"{value!r} is not a duration such as 90d or 12h.", param, ctx)
        return timedelta(**{self.UNITS[found[2]]: int(found[1])})


@token_command.command("create")
@click.option("--user", "email", required=True, metavar="EMAIL", help="E-mail address of the user of the token.")
@click.option("--ability", "abilities", multiple=True, required=True, metavar="A", help=ABILITIES_HELP)
@click.option(
    "--company",
    "codes",
    multiple=True,
    metavar="CODE",
    help="Limit the token to this company; repeat the option for several.  [default: all companies of the user]",
)
@click.option("--name", default="command line", show_default=True, help="What the token is for.")
@click.option(
    "--expires",
    type=Lifetime(),
    help="How long the token works.  [default: 90d, or tokens.lifetime_days of the settings]",
)
@with_installation
def create_token(
    command_line: CommandLine,
    email: str,
    abilities: tuple[str, ...],
    codes: tuple[str, ...],
    name: str,
    expires: timedelta | None,
) -> None:
    """Create a token. The token is printed on standard output only once: keep it safe."""
    validate_model(TokenName, {"name": name})
    tokens = command_line.settings.tokens
    lifetime = expires or timedelta(days=tokens.lifetime_days)
    if lifetime > timedelta(days=tokens.most_days):
        raise click.BadParameter(
            f"must be at most {tokens.most_days}d (tokens.most_days).", param_hint="'--expires'"
        )

    async def work(installation: Installation) -> str:
        def create(tx: Transaction) -> str:
            user = active(tx, email)
            try:
                return actions.create_token(
                    tx,
                    email=email,
                    name=name,
                    abilities=abilities,
                    company_codes=codes,
                    lifetime=lifetime,
                    whitelist=installation.abilities,
                )
            except Problem as problem:
                raise _with_ability_hint(problem, user, abilities) from None

        return await installation.platform.write(create)

    token = command_line.run(work)
    hours = lifetime // timedelta(hours=1)
    lasts = f"{hours}h" if hours % 24 else f"{hours // 24}d"
    note(f"A token for {email}, valid for {lasts}. It is shown only now.")
    click.echo(token)


def _with_ability_hint(problem: Problem, user: User, asked: Sequence[str]) -> Problem:
    """Return the problem, with a hint if the user lacks an ability.

    The hint has the user's abilities, and the command that grants the missing ones.
    """
    if problem.code != "FORBIDDEN":
        return problem
    wanted = [EVERYTHING] if EVERYTHING in asked else dict.fromkeys([*user.abilities, *asked])
    options = " ".join(f"--ability {shlex.quote(each)}" for each in wanted)
    return Problem(
        problem.code,
        f"{problem.message} The user has: {', '.join(user.abilities) or 'no abilities'}. To give the "
        f"user more: wmsd user change {shlex.quote(user.email)} {options}",
    )


@token_command.command("list")
@json_option
@with_installation
def list_tokens(command_line: CommandLine, as_json: bool) -> None:
    """List the tokens, without their text."""

    say(command_line.read(token_store.list_tokens), as_json)


@token_command.command("revoke")
@click.argument("token_id", metavar="ID", type=click.IntRange(1, MAX_ID))
@with_installation
def revoke_token(command_line: CommandLine, token_id: int) -> None:
    """Revoke the token with this ID (see `wmsd token list`).

    A running server applies the change within a second.
    """

    is_new = command_line.write(lambda tx: actions.revoke_token_by_id(tx, token_id))
    note(f"Token {token_id} {'is revoked' if is_new else 'was already revoked'}.")


@token_command.command("rotate-key")
@yes_option
@with_installation
def rotate_key(command_line: CommandLine, yes: bool) -> None:
    """Sign new tokens with a new key.

    Tokens that were signed with the previous key are still accepted; tokens of older keys are refused. Rotate
    twice to end all existing tokens. The command asks for confirmation.
    """
    if not yes:
        confirm(ROTATE)
    command_line.write(actions.rotate_signing_key)
    note("New tokens are signed with a new key. Tokens signed with the previous key still work.")
