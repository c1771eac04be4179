"""The command `wmsd recovery`."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from wmsd.contract.fields import MAX_ID
from wmsd.contract.operation import Operation
from wmsd.contract.validation import validate_model
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.operations import act
from wmsd.interfaces.cli.kit.questions import confirm, yes_option
from wmsd.server.missing_credentials import LostCredentials
from wmsd.tenants.recovery import actions
from wmsd.tenants.recovery.schema import EndedAccess, RecoveryChoice

NOTHING: Final = "There is nothing to do: no task after a restore is open."
UNKNOWN_AFTER: Final = (
    "wmsd does not know which access was revoked or disabled after {}. Confirm the access that is "
    "right (`wmsd recovery confirm`), and end all other access (`wmsd recovery end`)."
)
SETTLED: Final = "Entries settled: {}."
NONE_LEFT: Final = "These entries are already settled. Nothing was changed."
END_ALL: Final = (
    "This ends the access of every site, of the platform token, and of every user in the list who "
    "is not a platform admin.\nEnd this access?"
)
chosen_entries = click.argument("entries", metavar="[ID]...", nargs=-1, type=click.IntRange(1, MAX_ID))


def every(what: str) -> Callable[[Any], Any]:
    return click.option("--all", "is_every", is_flag=True, help=what)


@click.group()
def recovery_command() -> None:
    """List and settle the tasks after a restore: create lost things again, and confirm or end access that may have
    come back.

    After a restore without the keys, tokens, credentials of webhooks and second factors must be created again. If
    the previous platform.db could not be read, users, sites and platform tokens that were disabled or revoked
    after the backup may have access again. Until each entry is settled, `wmsd status` exits with 1 and /api/health
    is degraded. An entry is settled automatically when the user gets a new token with the name of the lost token,
    when the credentials of the webhook are set again, or when the user is disabled.
    """


@recovery_command.command("list")
@click.option("--done", "with_done", is_flag=True, help="Also list settled entries, the newest first.")
@json_option
@with_installation
def list_entries(command_line: CommandLine, with_done: bool, as_json: bool) -> None:
    """List what must be created again, and whose access must be confirmed or ended."""

    async def work(installation: Installation) -> dict[str, Any]:
        await LostCredentials(installation).look()
        return dict(await act(installation, actions.list_recovery))

    found = command_line.run(work)
    if as_json:
        say({**found, "done": found["done"] if with_done else []}, as_json)
        return
    entries = [*found["lost"], *found["access"]]
    say([_row(entry) for entry in entries], as_json, NOTHING)
    if found["access_unknown_after"]:
        note(UNKNOWN_AFTER.format(found["access_unknown_after"]))
    if with_done:
        say([_done_row(entry) for entry in found["done"]], as_json, "No entries are settled yet.")


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": entry["id"],
        "what": entry["sentence"],
        "last used": entry["last_used_at"],
        "tokens": entry["tokens"],
        "what to do": entry["remedy"],
    }


def _done_row(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": entry["id"],
        "kind": entry["kind"],
        "subject": entry["subject"],
        "name": entry["name"],
        "settled": entry["done_at"],
        "how": entry["done_as"],
        "by": entry["done_by"],
    }


@recovery_command.command("dismiss")
@chosen_entries
@every("All lost entries.")
@with_installation
def dismiss(command_line: CommandLine, entries: tuple[int, ...], is_every: bool) -> None:
    """Dismiss lost tokens, credentials or second factors as not needed."""
    _settle(command_line, actions.dismiss_lost, validate_model(RecoveryChoice, _choice(entries, is_every)))


@recovery_command.command("confirm")
@chosen_entries
@every("All access in the list.")
@with_installation
def confirm_entries(command_line: CommandLine, entries: tuple[int, ...], is_every: bool) -> None:
    """Confirm the access of these users, sites or platform tokens."""
    _settle(command_line, actions.confirm_access, validate_model(RecoveryChoice, _choice(entries, is_every)))


@recovery_command.command("end")
@chosen_entries
@every("All access in the list, except that of platform admins.")
@click.option("--keep-users", is_flag=True, help="Revoke tokens and end sessions, but do not disable users.")
@yes_option
@with_installation
def end(command_line: CommandLine, entries: tuple[int, ...], is_every: bool, keep_users: bool, yes: bool) -> None:
    """End the access of these users, sites or platform tokens.

    A user is disabled, as by `wmsd user disable`. A site's token or a platform token is revoked.
    """
    choice = {**_choice(entries, is_every), "keep_users": keep_users}
    if is_every and not yes:
        confirm(END_ALL)
    _settle(command_line, actions.end_access, validate_model(EndedAccess, choice))


def _choice(entries: Sequence[int], is_every: bool) -> dict[str, Any]:
    if bool(entries) == is_every:
        raise click.UsageError("Give the IDs of entries (`wmsd recovery list` lists them), or --all.")
    return {"entries": list(entries), "every": is_every}


def _settle(command_line: CommandLine, operation: Operation, body: RecoveryChoice) -> None:
    number = command_line.run(lambda at: act(at, operation, body=body))["entries"]
    note(SETTLED.format(number) if number else NONE_LEFT)
