"""The command `wmsd alerts`."""

import asyncio
from typing import Any

import click

from wmsd.base import timestamps
from wmsd.base.clock import SystemClock
from wmsd.base.ids import RandomIds
from wmsd.interfaces.cli.kit.command_hints import command_completer, complete_commands
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.log.output import escape_controls
from wmsd.server.alerts.alert_json import Outcome
from wmsd.server.alerts.alerts_file import Kept, Notice, OpenAlert, as_of, read_alerts
from wmsd.server.alerts.channels import Channel, channels_of
from wmsd.server.alerts.kinds import alert_sentence, kind_of
from wmsd.server.alerts.mail_confirmation import confirm_mail_code, new_code, note_sent, state_of

NONE_SET = (
    "wmsd sends alerts to no one. Set alerts.mail_to with alerts.mail_relay, alerts.url with "
    "alerts.secret_file, or alerts.command. The guide says how: /docs/monitoring."
)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def alerts_command(context: click.Context, as_json: bool) -> None:
    """List the problems that need a person, and test whether admins receive alerts.

    Every 15 seconds a running server checks the disk, the backups, the replica, the companies' files and the
    certificate. The server also checks for webhook deliveries that failed in every attempt, and for tokens that
    expire within 14 days. The server reports when a problem begins and when it is over: by e-mail
    (alerts.mail_to), to a receiver (alerts.url), to a program (alerts.command), or by several of these. Without a
    subcommand, the open alerts are listed.
    """
    if context.invoked_subcommand is None:
        with list_alerts.make_context("list", ["--json"] if as_json else [], parent=context) as listing:
            list_alerts.invoke(listing)


@alerts_command.command("list")
@json_option
@with_installation
def list_alerts(command_line: CommandLine, as_json: bool) -> None:
    """List the open alerts, as the server last knew them.

    The command also says which channel does not accept alerts, and how many alerts wait for it.
    """
    command_line.find()
    kept = read_alerts(command_line.folder.path)
    if as_json:
        say(_as_json(kept), as_json)
        return
    rows = [
        {
            "since": each.begun_at,
            "alert": kind_of(each.kind).title,
            "says": f"{_sentence(each)}{_gone(each)}",
            "what to do": complete_commands(kind_of(each.kind).remedy),
        }
        for each in kept.open
    ]
    say(rows, as_json, "There are no open alerts.")
    for name, failure in kept.failures.items():
        waiting = len(kept.waiting_of(name))
        note(
            f"No alert could be sent through alerts.{name} since {failure.since} (waiting: {waiting}): "
            f"{escape_controls(failure.error)}"
        )
    if command_line.folder.server() is None:
        note(f"No server is running: these are the alerts of the last server{as_of(command_line.folder.path)}.")
    if not channels_of(command_line.settings, command_line.folder.path, SystemClock()):
        note(NONE_SET)
    if (unconfirmed := state_of(command_line.folder.path, command_line.settings.alerts).sentence) is not None:
        note(unconfirmed)


@alerts_command.command("test", short_help="Send a test alert now.")
@json_option
@with_installation
def test_alerts(command_line: CommandLine, as_json: bool) -> None:
    """Send a test alert now, by every configured channel, and print the answers.

    The command itself sends the alert, once, with or without a running server. The command exits with 1 if a
    channel did not accept the alert. An e-mail contains a code: e-mail counts as set up when you confirm this code
    with wmsd alerts confirm.
    """
    command_line.say_folder()
    clock, code = SystemClock(), new_code()
    folder = command_line.folder.path
    ways = channels_of(command_line.settings, folder, clock, code if folder.is_dir() else "", command_completer())
    if not ways:
        fail([NONE_SET])
    at = timestamps.to_text(clock.now())
    test = Notice(
        id=f"alert_{RandomIds().unique()}", number=0, event="alert.test", kind="test", begun_at=at, at=at
    )
    outcomes = asyncio.run(_sent(ways, test))
    rows: list[dict[str, Any]] = [
        {
            "way": f"alerts.{name}",
            "taken": outcome.error is None,
            "answer": escape_controls(outcome.error or outcome.said),
        }
        for name, outcome in outcomes.items()
    ]
    say(rows, as_json)
    mail = outcomes.get("mail")
    if mail is not None and mail.error is None and folder.is_dir():
        note_sent(folder, command_line.settings.alerts, code, clock.now())
        note(
            f"An e-mail with a code was sent to {', '.join(command_line.settings.alerts.mail_to)}. When the "
            "e-mail arrives: wmsd alerts confirm CODE"
        )
    refused = [row["way"] for row in rows if not row["taken"]]
    if refused:
        fail([f"The test alert was not accepted by {' and '.join(refused)}."])


@alerts_command.command("confirm", short_help="Confirm that the e-mail of a test arrived.")
@click.argument("code", metavar="CODE")
@with_installation
def confirm_mail(command_line: CommandLine, code: str) -> None:
    """Confirm that the e-mail of `wmsd alerts test` arrived. CODE is the code in this e-mail.

    When the address, the relay or its credentials change in the settings, e-mail must be tested and confirmed
    again.
    """
    command_line.find()
    settings, folder = command_line.settings.alerts, command_line.folder.path
    if not settings.mail_to:
        fail(["E-mail is not set up: name addresses in alerts.mail_to, and a relay in alerts.mail_relay."])
    if not confirm_mail_code(folder, settings, code, SystemClock().now()):
        fail(
            [
                f"{escape_controls(code)} is not the code of the last test with these settings. wmsd alerts "
                "test sends another e-mail."
            ]
        )
    note(f"Confirmed: wmsd sends alerts to {', '.join(settings.mail_to)}.")


async def _sent(ways: list[Channel], test: Notice) -> dict[str, Outcome]:
    try:
        outcomes = await asyncio.gather(*(way.send(test, 1) for way in ways))
    finally:
        for way in ways:
            await way.close()
    return {way.name: outcome for way, outcome in zip(ways, outcomes, strict=True)}


def _as_json(kept: Kept) -> dict[str, Any]:
    return {
        "open": [
            {
                **each.model_dump(),
                "sentence": _sentence(each),
                "remedy": complete_commands(kind_of(each.kind).remedy),
            }
            for each in kept.open
        ],
        "waiting": {name: len(each) for name, each in kept.waiting.items()},
        "failures": {name: each.model_dump() for name, each in kept.failures.items()},
    }


def _gone(alert: OpenAlert) -> str:
    return (
        f" The problem has been gone since {alert.gone_at}. If the problem does not return, the alert "
        "ends automatically."
        if alert.gone_at
        else ""
    )


def _sentence(alert: OpenAlert) -> str:
    return escape_controls(complete_commands(alert_sentence(alert.kind, alert.subject, alert.facts)))
