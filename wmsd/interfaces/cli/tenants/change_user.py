"""The commands of `wmsd user` that show and change users. They run the same operations as the pages in the
browser.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import click

from wmsd.base.plurals import count_of
from wmsd.base.problems import Problem, invalid, or_not_found
from wmsd.contract.access import ABILITIES, ABILITY_SETS, EVERYTHING, ROLES, with_sets
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    json_option,
    note,
    say,
    with_installation,
)
from wmsd.interfaces.cli.kit.operations import RESET_PASSWORD, SITE_ADMIN
from wmsd.interfaces.cli.kit.questions import confirm, yes_option
from wmsd.platform import user_overview
from wmsd.tenants.accounts import last_admin, sign_in_methods, store, user_administration
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.accounts.schema import UserEmail, UserSettingsPatch
from wmsd.tenants.accounts.sign_in_methods import Holdings

ABILITIES_HELP: Final = (
    "An ability, or a set of abilities; repeat the option for several. One of: "
    f"{', '.join(ABILITIES)}, or * for everything. Sets: "
    f"{'; '.join(f'{each.name} ({each.says})' for each in ABILITY_SETS)}."
)

WAITS: Final = (
    "Not yet valid: {waiting}. {email} must first sign in by single sign-on, or choose a password "
    "with a new link, because another person may know the present password."
)

email_argument = click.argument("email")


def _abilities(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Convert the values of --ability to abilities. A value names one ability, or a set of several abilities."""
    return tuple(with_sets(names))


ability_option: Final = partial(
    click.option, "--ability", "abilities", multiple=True, metavar="A", callback=_abilities
)


@click.group()
def user_command() -> None:
    """Create and change users. A password is never given as an argument, because others could see it."""


def sign_in_methods_sentence(before: Holdings, after: Holdings) -> str:
    """Return a sentence that lists the user's sign-in methods that were ended, such as "No longer valid: the
    password, 2 sessions."
    """
    parts = [
        *(["the password"] if before.password and not after.password else []),
        *(["the link to a new password"] if before.link and not after.link else []),
        *_counted(before.sessions - after.sessions, "session"),
        *_counted(before.tokens - after.tokens, "token"),
    ]
    return f"No longer valid: {', '.join(parts)}." if parts else "No link, session or token was ended."


def _counted(number: int, noun: str) -> list[str]:
    return [count_of(number, noun)] if number > 0 else []


def abilities_in_words(abilities: Sequence[str]) -> list[str]:
    """Return the abilities as people read them: `*` becomes "everything in these companies"."""
    return ["everything in these companies"] if EVERYTHING in abilities else list(abilities)


@user_command.command("show")
@email_argument
@json_option
@with_installation
def show_user(command_line: CommandLine, email: str, as_json: bool) -> None:
    """Show the user EMAIL: rights, companies, who created the user, how the user signs in, sessions and tokens."""
    shown = command_line.read(lambda tx: user_overview.of_user(tx, user_of(tx, email).id))
    if as_json:
        say(shown, True)
        return
    lists = {name: shown.pop(name) for name in ("sessions", "tokens")}
    for each in (shown, *lists["tokens"]):
        each["abilities"] = abilities_in_words(each["abilities"])
    say(shown, False)
    for name, rows in lists.items():
        click.echo(f"\n{name}: {len(rows) or 'none'}")
        if rows:
            say(rows, False)


def user_of(tx: Transaction, email: str) -> User:
    """Return the user with this e-mail address, even if the user is disabled. Raise Problem (404) if there is
    none.
    """
    return or_not_found(store.user_by_email(tx, email), f"user as {email}")


def active(tx: Transaction, email: str) -> User:
    """Return the user with this e-mail address.

    Raise Problem: 404 if there is none, 409 if the user is disabled.
    """
    user = user_of(tx, email)
    if user.disabled:
        enable = f"wmsd user enable {shlex.quote(user.email)}"
        raise Problem("INVALID_STATUS", f"{user.email} is disabled. First enable the user: {enable}")
    return user


@user_command.command("change")
@email_argument
@click.option("--name", help="The name that people see.")
@click.option("--email", "field_email", metavar="NEW", help="The new e-mail address with which the user signs in.")
@click.option("--role", type=click.Choice(list(ROLES)), help="What the user may do, and where.")
@click.option(
    "--add-company",
    "field_company_codes",
    multiple=True,
    metavar="CODE",
    help="Add this company to the user; repeat the option for several.",
)
@click.option(
    "--remove-company",
    "removed",
    multiple=True,
    metavar="CODE",
    help="Remove this company from the user; repeat the option for several.",
)
@ability_option(help=f"Replaces the present abilities. {ABILITIES_HELP}")
@click.option(
    "--clear-abilities", is_flag=True, help="Remove all abilities of a member except those that end with :read."
)
@with_installation
def change_user(
    command_line: CommandLine,
    /,
    email: str,
    field_email: str | None,
    field_company_codes: tuple[str, ...],
    removed: tuple[str, ...],
    abilities: tuple[str, ...],
    clear_abilities: bool,
    **given: str | None,
) -> None:
    """Change the user EMAIL. Removed rights stop working from the user's next request on, also for the user's
    tokens.

    New rights apply only to sessions and tokens that are created from now on. If
    another person may know the password, the new rights wait, and the command says so. Then send the user a link
    from `wmsd user reset-password`, or let the user sign in by single sign-on.
    """
    if abilities and clear_abilities:
        raise click.UsageError("Give --ability or --clear-abilities, not both.")
    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if abilities or clear_abilities:
        fields["abilities"] = list(abilities)
    if not (fields or field_email or field_company_codes or removed):
        raise click.UsageError(
            "No changes given. Give --name, --email, --role, --add-company, --remove-company, --ability or "
            "--clear-abilities."
        )

    def write(tx: Transaction) -> tuple[Holdings, dict[str, Any], Holdings]:
        """Apply all changes to the user, or none. Return three values: the sign-in methods before the changes, the
        user's record after the changes, and the sign-in methods after the changes.
        """
        user_id = user_of(tx, email).id
        held = sign_in_methods.of_user(tx, user_id)
        before = json.loads(user_administration.get_user_record.action(tx, SITE_ADMIN, user_id).json)
        if abilities and (given["role"] or before["role"]) != "member":
            raise invalid({"--ability": ["must be empty: an admin has all abilities"]})
        if field_company_codes or removed:
            fields["company_codes"] = _companies(before["company_codes"], field_company_codes, removed)
        after = before
        if fields:
            body = validate_model(UserSettingsPatch, fields)
            after = json.loads(user_administration.change_user.action(tx, SITE_ADMIN, user_id, body).json)
        if field_email is not None:
            body_of_email = validate_model(UserEmail, {"email": field_email})
            after = json.loads(
                user_administration.change_user_email.action(tx, SITE_ADMIN, user_id, body_of_email).json
            )
        return held, dict(after), sign_in_methods.of_user(tx, user_id)

    before, user, after = command_line.write(write)
    link_ends = before.link and not after.link
    why = ""
    if link_ends:
        before_it = (
            "went to the old address" if field_email is not None else "was created before the rights changed"
        )
        why = f" The link {before_it}, and another person may have a copy."
    note(f"{user['email']} is changed. {sign_in_methods_sentence(before, after)}{why}")
    if waiting := waiting_in_words(user):
        note(WAITS.format(waiting=waiting, email=user["email"]))
    if (link_ends or waiting) and not after.link:
        _lead_to_link(user["email"])


def waiting_in_words(user: Mapping[str, Any]) -> str:
    """Return the new rights that do not apply yet, as text, or "" if there are none. `user` is a UserRecord.

    They apply when the user has signed in by single sign-on or chosen a new password.
    """
    return ", ".join(
        [
            *(f"the company {code}" for code in user["waiting_company_codes"]),
            *([f"the role {user['waiting_role']}"] if user["waiting_role"] else []),
            *(f"the ability {name}" for name in user["waiting_abilities"]),
        ]
    )


def _companies(before: Sequence[str], added: Sequence[str], removed: Sequence[str]) -> list[str]:
    """Return the codes of the user's companies after the change.

    Raise Problem (422) if a company to remove is not among the user's companies.
    """
    missing = [code for code in removed if code not in before]
    if missing:
        errors = {"--remove-company": [f"{code} is not a company of this user" for code in missing]}
        raise Problem("VALIDATION_FAILED", "The request is not valid.", errors=errors)
    return [*(code for code in before if code not in removed), *(code for code in added if code not in before)]


@user_command.command("enable")
@email_argument
@with_installation
def enable_user(command_line: CommandLine, email: str) -> None:
    """Enable the user EMAIL again. The password works again, and so do the user's tokens that were not revoked."""
    let_in = user_administration.let_in_user.action
    answer = command_line.write(lambda tx: let_in(tx, SITE_ADMIN, user_of(tx, email).id))
    note(answer["message"])
    if answer["needs_link"]:
        _lead_to_link(email.lower())


def _lead_to_link(email: str) -> None:
    note(f"To create a password link: {RESET_PASSWORD} {shlex.quote(email)}")


@user_command.command("delete")
@email_argument
@yes_option
@with_installation
def delete_user(command_line: CommandLine, email: str, yes: bool) -> None:
    """Delete the user EMAIL, with the user's sessions and tokens.

    The user's actions stay in the audit and in the history of records, with the e-mail address. A running server
    applies the change within a second. To keep the user for later, disable the user instead.
    """

    def look(tx: Transaction) -> None:
        """Raise Problem if the user is the last admin. Call this before the confirmation question."""
        last_admin.check_not_last(tx, user_of(tx, email))

    if not yes:
        command_line.read(look)
        confirm(
            f"Delete {email}? The user's tokens stop working permanently. To keep the user for later, "
            "disable the user instead."
        )

    def delete(tx: Transaction) -> tuple[dict[str, Any], Holdings]:
        user_id = user_of(tx, email).id
        held = sign_in_methods.of_user(tx, user_id)
        return dict(user_administration.delete_user.action(tx, SITE_ADMIN, user_id)), held

    answer, held = command_line.write(delete, is_again=not yes)
    note(f"{answer['message']} {sign_in_methods_sentence(held, sign_in_methods.NONE)}")
