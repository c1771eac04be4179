"""`wmsd alerts`."""

import asyncio
from typing import Any

import click

from wmsd.app.alerts.kept import Kept, Notice, OpenAlert, as_of, read_kept
from wmsd.app.alerts.kinds import BY_NAME, remedy, sentence
from wmsd.app.alerts.ways import Outcome, Way, ways_of
from wmsd.app.logs import escaped
from wmsd.base import timestamps
from wmsd.base.clock import SystemClock
from wmsd.base.ids import RandomIds
from wmsd.interfaces.cli.command_line import CommandLine, fail, installed, json_option, note, say
from wmsd.interfaces.cli.suggested import suggested

NONE_SET = (
    "Nobody is told of alerts: set alerts.url with alerts.secret_file, or alerts.command. "
    "The guide says how: /docs/monitoring."
)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def alerts_command(context: click.Context, as_json: bool) -> None:
    """List what needs a person, and try whether admins are told of it.

    A running server looks every 15 seconds at the disk, the backups, the replica, the companies' files, deliveries
    that were given up, tokens that expire within 14 days and the certificate. It tells each trouble once when it
    begins and once when it is over: a receiver (alerts.url), a program (alerts.command), or both. Without a
    command it lists them.
    """
    if context.invoked_subcommand is None:
        with list_alerts.make_context("list", ["--json"] if as_json else [], parent=context) as listing:
            list_alerts.invoke(listing)


@alerts_command.command("list")
@json_option
@installed
def list_alerts(command_line: CommandLine, as_json: bool) -> None:
    """List the alerts that are open, as the server knew them last.

    It also says which way does not take alerts, and how many wait for it.
    """
    command_line.find()
    kept = read_kept(command_line.folder.path)
    if as_json:
        say(_as_json(kept), as_json)
        return
    rows = [
        {
            "since": each.begun_at,
            "alert": _title(each.kind),
            "says": f"{_sentence(each)}{_gone(each)}",
            "what to do": suggested(remedy(each.kind)),
        }
        for each in kept.open
    ]
    say(rows, as_json, "Nothing needs a person.")
    for name, failure in kept.failures.items():
        waiting = len(kept.waiting_of(name))
        note(f"alerts.{name} has not taken alerts since {failure.since}; {waiting} wait: {escaped(failure.error)}")
    if command_line.folder.server() is None:
        note(f"No server runs: this is what the last one knew{as_of(command_line.folder.path)}.")
    if not ways_of(command_line.settings, command_line.folder.path, SystemClock()):
        note(NONE_SET)


@alerts_command.command("test", short_help="Send a test alert now.")
@json_option
@installed
def test_alerts(command_line: CommandLine, as_json: bool) -> None:
    """Send a test alert now, by every way that is set, and say what came back.

    The command itself sends it, once: a server may run or not. It exits with 1 when a way did not take it.
    """
    command_line.say_folder()
    clock = SystemClock()
    ways = ways_of(command_line.settings, command_line.folder.path, clock)
    if not ways:
        fail([NONE_SET])
    at = timestamps.to_text(clock.now())
    test = Notice(
        id=f"alert_{RandomIds().unique()}", number=0, event="alert.test", kind="test", begun_at=at, at=at
    )
    outcomes = asyncio.run(_sent(ways, test))
    rows: list[dict[str, Any]] = [
        {"way": f"alerts.{name}", "taken": outcome.error is None, "answer": escaped(outcome.error or outcome.said)}
        for name, outcome in outcomes.items()
    ]
    say(rows, as_json)
    refused = [row["way"] for row in rows if not row["taken"]]
    if refused:
        fail([f"The test was not taken by {' and '.join(refused)}."])


async def _sent(ways: list[Way], test: Notice) -> dict[str, Outcome]:
    try:
        outcomes = await asyncio.gather(*(way.send(test, 1) for way in ways))
    finally:
        for way in ways:
            await way.close()
    return {way.name: outcome for way, outcome in zip(ways, outcomes, strict=True)}


def _as_json(kept: Kept) -> dict[str, Any]:
    return {
        "open": [
            {**each.model_dump(), "sentence": _sentence(each), "remedy": suggested(remedy(each.kind))}
            for each in kept.open
        ],
        "waiting": {name: len(each) for name, each in kept.waiting.items()},
        "failures": {name: each.model_dump() for name, each in kept.failures.items()},
    }


def _gone(alert: OpenAlert) -> str:
    return (
        f" The trouble has been gone since {alert.gone_at}. If it stays away, the alert ends by itself."
        if alert.gone_at
        else ""
    )


def _title(kind: str) -> str:
    return BY_NAME[kind].title if kind in BY_NAME else kind


def _sentence(alert: OpenAlert) -> str:
    return escaped(suggested(sentence(alert.kind, alert.subject, alert.facts)))
