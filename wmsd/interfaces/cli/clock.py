"""`wmsd clock`."""

import click

from wmsd.app import clock_watch
from wmsd.app.site import Site
from wmsd.base import timestamps
from wmsd.base.steadiness import Known
from wmsd.interfaces.cli.installation import Installation, installed, json_option, note, say


@click.group()
def clock_command() -> None:
    """Show whether the machine's clock can be believed, and say that it can.

    What is old is deleted by the clock: events after 90 days, deliveries after 30, keys of requests after 7,
    tokens when they have expired. When the clock is set, the server deletes nothing until it has been steady for
    a day.
    """


@clock_command.command("show")
@json_option
@installed
def show_clock(installation: Installation, as_json: bool) -> None:
    """Show what the server found last."""

    async def work(site: Site) -> Known | None:
        return await site.platform.read(clock_watch.known)

    known = installation.run(work)
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


@clock_command.command("confirm", short_help="Say that the clock is right.")
@installed
def confirm_clock(installation: Installation) -> None:
    """Say that the clock is right: what is old is deleted again from now on."""

    async def work(site: Site) -> str:
        await site.platform.write(clock_watch.confirm)
        return timestamps.to_text(site.clock.now())

    now = installation.run(work)
    note(f"It is {now}, and the clock is right. A running server follows within a second.")
