"""The command `wmsd clock`."""

import click

from wmsd.base import timestamps
from wmsd.data_folder import clock_watch
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation


@click.group()
def clock_command() -> None:
    """Show whether the machine's clock can be trusted, and confirm that it is right.

    The server deletes events after 90 days, webhook deliveries after 30 days, idempotency keys after 7 days,
    and expired tokens. A wrong clock would delete them too early. When the clock is set, the server therefore
    deletes nothing until the clock has been steady for a day, or you confirm that it is right.
    """


@clock_command.command("show")
@json_option
@with_installation
def show_clock(command_line: CommandLine, as_json: bool) -> None:
    """Show what the server last knew about the clock."""
    known = command_line.read(clock_watch.known)
    if known is None:
        note("No server has run here yet.")
        return
    doubted = None if known.doubted_since is None else timestamps.to_text(known.doubted_since)
    step = None if known.step is None else round(known.step.total_seconds())
    shown = {
        "steady": doubted is None,
        "steady_at": timestamps.to_text(known.steady_at),
        "doubted_since": doubted,
        "step_seconds": step,
    }
    say(shown, as_json)
    if known.doubted_since is not None:
        sentence = clock_watch.sentence(known.doubted_since, known.step)
        note(f"{sentence[0].upper()}{sentence[1:]}.")


@clock_command.command("confirm", short_help="Confirm that the clock is right.")
@with_installation
def confirm_clock(command_line: CommandLine) -> None:
    """Confirm that the clock is right. From now on the server deletes old data again."""

    async def work(installation: Installation) -> str:
        await installation.platform.write(clock_watch.confirm)
        installation.clock.believe()
        return timestamps.to_text(installation.clock.now())

    now = command_line.run(work)
    note(f"Confirmed: the clock is right, and shows {now}. A running server notices this within a second.")
