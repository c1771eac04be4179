"""The commands of `wmsd user` that create users, and that end or replace their ways to sign in."""

import shlex
import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from wmsd.base.problems import Problem, invalid, refuse_errors
from wmsd.contract.access import ROLES
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.operations import SITE_ADMIN
from wmsd.interfaces.cli.kit.shown_address import address_of_links, is_of_this_machine
from wmsd.interfaces.cli.tenants.change_user import (
    ABILITIES_HELP,
    abilities_in_words,
    ability_option,
    active,
    email_argument,
    sign_in_methods_sentence,
    user_command,
    user_of,
)
from wmsd.interfaces.pages.kit.addresses import FIRST_ADMIN, WELCOME
from wmsd.tenants.accounts import actions, invitations, second_factor_actions, sign_in_methods, store
from wmsd.tenants.accounts import user_administration as users
from wmsd.tenants.accounts.password_strength import IN_WORDS, password_errors
from wmsd.tenants.accounts.schema import NewUser
from wmsd.tenants.companies import store as companies
from wmsd.tenants.one_time_links.actions import offer_first_admin
from wmsd.tenants.sign_on import actions as sign_on

password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from the first line of standard input."
)


@user_command.command("create")
@click.argument("email")
@click.option("--role", required=True, type=click.Choice(list(ROLES)), help="What the user may do, and where.")
@click.option(
    "--company",
    "codes",
    multiple=True,
    metavar="CODE",
    help="A company that the user may use; repeat the option for several.",
)
@click.option("--name", help="The name that people see.  [default: the e-mail address]")
@ability_option(help=f"For a member only. {ABILITIES_HELP}")
@click.option("--link", "with_link", is_flag=True, help="Print a link at which the user chooses a password.")
@password_option
@json_option
@with_installation
def create_user(
    command_line: CommandLine,
    email: str,
    role: str,
    codes: tuple[str, ...],
    name: str | None,
    abilities: tuple[str, ...],
    with_link: bool,
    password_stdin: bool,
    as_json: bool,
) -> None:
    """Create the user EMAIL.

    A platform-admin may do everything, everywhere. A company-admin may do everything in the companies of
    --company. A member has the abilities of --ability in these companies; without --ability, all abilities that
    end with :read.

    With --link the user is invited: the link is printed on standard output only once.
    """
    if with_link and password_stdin:
        raise click.UsageError("Give --link or --password-stdin, not both.")
    new = validate_model(
        NewUser,
        {
            "email": email,
            "name": name or email,
            "role": role,
            "company_codes": list(codes),
            "abilities": list(abilities),
        },
    )
    if with_link:
        made = command_line.write(lambda tx: users.invite_user.action(tx, SITE_ADMIN, new))
    else:
        made = _made(command_line, new, password_stdin)
    if role != "platform-admin" and not codes:
        note(
            f"{new.email} has no company yet, so the user sees no data. To add a company: wmsd user change "
            f"{shlex.quote(new.email)} --add-company CODE"
        )
    link = {"link": link_to_password(command_line, made)} if with_link else {}
    if link and not as_json:
        click.echo(link["link"])
    else:
        say({"id": made["id"], "email": new.email, "role": role, **link}, as_json)


def _made(command_line: CommandLine, new: NewUser, password_stdin: bool) -> dict[str, Any]:
    password = _password(
        password_stdin, "--password-stdin, or --link for a link at which the user chooses a password"
    )
    refuse_errors(password_errors(password, new.email, new.name))

    async def work(installation: Installation) -> int:
        password_hash = await installation.passwords.hash(password)
        return await installation.platform.write(lambda tx: actions.create_user(tx, new, password_hash))

    return {"id": command_line.run(work)}


@user_command.command("list")
@json_option
@with_installation
def list_users(command_line: CommandLine, as_json: bool) -> None:
    """List the users."""

    def read(tx: Transaction) -> list[dict[str, Any]]:
        codes = {company.id: company.code for company in companies.companies(tx)}
        return [
            {
                "id": user.id,
                "email": user.email,
                "name": user.name,
                "role": user.role,
                "companies": sorted(codes[company_id] for company_id in user.company_ids),
                "abilities": list(user.abilities),
                "disabled": user.disabled,
            }
            for user in store.users(tx)
        ]

    users = command_line.read(read)
    for user in () if as_json else users:
        user["abilities"] = abilities_in_words(user["abilities"])
        if user["role"] == "platform-admin":
            user["companies"] = "all"
    say(users, as_json, "No users yet. To create a user: wmsd user create EMAIL --role platform-admin --link")


@user_command.command("disable")
@click.argument("email")
@with_installation
def disable_user(command_line: CommandLine, email: str) -> None:
    """Disable the user EMAIL, and refuse all tokens of the user. A running server applies the change within a
    second.
    """

    def disable(tx: Transaction) -> str:
        user = user_of(tx, email)
        if user.disabled:
            return f"{user.email} is already disabled. Nothing was changed."
        held = sign_in_methods.of_user(tx, user.id)
        actions.disable_user(tx, email)
        refused = f" Tokens now refused: {held.tokens}." if held.tokens else ""
        ended = sign_in_methods_sentence(held, sign_in_methods.of_user(tx, user.id))
        return (
            f"{user.email} is disabled. {ended}{refused} "
            f"`wmsd user enable` enables the user again{', with these tokens' if refused else ''}."
        )

    note(command_line.write(disable))


@user_command.command("unlink")
@click.argument("email")
@with_installation
def unlink_user(command_line: CommandLine, email: str) -> None:
    """Unlink the user EMAIL from accounts at sign-on providers, and end the user's sessions.

    The next account that signs in with the user's e-mail address is linked to the user.
    """

    def unlink(tx: Transaction) -> str:
        user = user_of(tx, email)
        held = sign_in_methods.of_user(tx, user.id)
        links = sign_on.unlink_user(tx, email)
        ended = sign_in_methods_sentence(held, sign_in_methods.of_user(tx, user.id))
        return f"Accounts unlinked from {user.email}: {links}. {ended}"

    note(command_line.write(unlink))


@user_command.command("remove-second-factor")
@click.argument("email")
@with_installation
def remove_second_factor(command_line: CommandLine, email: str) -> None:
    """Remove the second factor of the user EMAIL, who has lost it.

    The user then signs in with the password alone.
    """
    was_on = command_line.write(lambda tx: second_factor_actions.remove_second_factor(tx, email))
    note(f"The second factor of {email} is removed." if was_on else f"{email} had no second factor.")


@user_command.command("set-password")
@click.argument("email")
@click.option("--keep-tokens", is_flag=True, help="Keep the tokens that were created by signing in.")
@password_option
@with_installation
def set_password(command_line: CommandLine, email: str, keep_tokens: bool, password_stdin: bool) -> None:
    """Give the user EMAIL a new password.

    The user is signed out of all browsers, and tokens that were created by signing in end; tokens from `wmsd token
    create` stay. A running server applies the change within a second.
    """
    password = _password(password_stdin)

    async def work(installation: Installation) -> str:
        user = await installation.platform.read(lambda tx: active(tx, email))
        refuse_errors(password_errors(password, user.email, user.name))
        password_hash = await installation.passwords.hash(password)

        def set_password(tx: Transaction) -> str:
            held = sign_in_methods.of_user(tx, user.id)
            actions.set_password(tx, email, password_hash, keep_tokens=keep_tokens)
            now = sign_in_methods.of_user(tx, user.id)
            stay = f" Tokens that still work: {now.tokens}." if now.tokens else ""
            return f"{user.email} has a new password. {sign_in_methods_sentence(held, now)}{stay}"

        return await installation.platform.write(set_password)

    note(command_line.run(work))


def _password(from_stdin: bool, ways: str = "--password-stdin") -> str:
    if from_stdin:
        try:
            password = sys.stdin.buffer.readline().decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise invalid({"password": ["must be UTF-8 text"]}) from None
    elif not sys.stdin.isatty():
        raise click.UsageError(f"wmsd cannot ask for the password, because there is no terminal. Give {ways}.")
    else:
        note(IN_WORDS)
        password = click.prompt("Password", hide_input=True, confirmation_prompt="The password again", err=True)
    return str(password)


WORKS_ONCE: Final = f"The link works once, for {invitations.LIFETIME.days} days."
ON_THIS_MACHINE: Final = (
    "A link with {} opens only on this machine. For other machines, replace this address with the "
    "address at which they reach wmsd, or set server.listen first."
)


def link_to_password(command_line: CommandLine, made: Mapping[str, Any]) -> str:
    """Return the link at which a user chooses a password, and print what to do with it. `made` is the answer of
    the operation that created the link.
    """
    note(f"Send this link only to {made['email']}: anyone who has the link can choose the password. {WORKS_ONCE}")
    return _link(command_line, WELCOME, made["code"])


def _link(command_line: CommandLine, page: str, code: str) -> str:
    address = address_of_links(command_line)
    if is_of_this_machine(address):
        note(ON_THIS_MACHINE.format(address))
    return f"{address}{page}?code={code}"


@user_command.command("reset-password")
@email_argument
@with_installation
def reset_password(command_line: CommandLine, email: str) -> None:
    """Create a link at which the user EMAIL chooses a new password, because the user has forgotten the old one.

    The link is printed on standard output only once. The link works once, for a week, and earlier links stop
    working. The present password works until a new one is chosen.
    """
    renew = users.renew_invitation.action
    made = command_line.write(lambda tx: renew(tx, SITE_ADMIN, active(tx, email).id))
    note("Earlier links do not work any more.")
    click.echo(link_to_password(command_line, made))


@user_command.command("first-admin-link")
@with_installation
def first_admin_link(command_line: CommandLine) -> None:
    """Create a new link for the first admin, if the link that the server printed is lost.

    The link is printed on standard output. The link works once, for a day, and replaces the previous one. The
    command is refused if there is an admin already.
    """
    code = command_line.write(offer_first_admin)
    if code is None:
        raise Problem(
            "INVALID_STATUS",
            "This installation already has an admin. `wmsd user list` shows the admin, and `wmsd user "
            "reset-password` creates a link to a new password.",
        )
    note("Open this link in a browser. The link works once, for one day.")
    click.echo(_link(command_line, FIRST_ADMIN, code))
