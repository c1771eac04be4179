"""The command `wmsd service`."""

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec

import click

from wmsd.db.engine.failures import StorageError
from wmsd.host import own_program
from wmsd.host.systemd import commands
from wmsd.host.systemd import install as installing
from wmsd.host.systemd import uninstall as removing
from wmsd.host.systemd.commands import ServiceError
from wmsd.host.systemd.paths import BEGUN_BY_HAND, CONFIG, NAME, PROGRAM
from wmsd.host.systemd.settings_file import read_config, settings_from
from wmsd.host.systemd.status import service_verdict
from wmsd.interfaces.cli.kit.command_line import fail, json_option, note, say
from wmsd.settings.sections.fields import SettingsError

P = ParamSpec("P")


def with_service_errors(command: Callable[P, None]) -> Callable[P, None]:
    @functools.wraps(command)
    def wrapped(*args: P.args, **options: P.kwargs) -> None:
        try:
            command(*args, **options)
        except (ServiceError, SettingsError, StorageError) as error:
            fail(str(error).splitlines())
        except OSError as error:
            fail([f"Reading or writing {error.filename or 'a file'} failed: {error.strerror or error}."])

    return wrapped


@click.group("service")
def service_command() -> None:
    """Run wmsd as a service of systemd, which starts it at each boot, and again after a failure.

    The guide has a page on it: /docs/service.
    """


@service_command.command("install")
@click.option(
    "--user",
    default=NAME,
    show_default=True,
    metavar="NAME",
    help="The user that runs the service; created if missing.",
)
@click.option("--data", metavar="DIR", help="Data folder.  [default: /var/lib/wmsd/data]")
@click.option("--listen", metavar="HOST:PORT", help="The address to listen on.  [default: 127.0.0.1:8480]")
@click.option(
    "--program",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The wmsd executable to install.  [default: this executable]",
)
@click.option(
    "--offline",
    is_flag=True,
    help="For a machine image, where systemd does not run: do not start the service; the next boot starts it.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing: show the steps, and print the unit.")
@with_service_errors
def install(
    user: str, data: str | None, listen: str | None, program: Path | None, offline: bool, dry_run: bool
) -> None:
    """Install the service, and start it. If no systemd runs, the command changes nothing and exits with 1.

    The command creates the user, copies the program to /usr/local/bin, writes /etc/wmsd/config.toml if it does not
    exist, writes the unit, and prints what it has done. Steps that are already done are skipped: a second run
    changes only what the options say, and what a changed configuration needs.
    """
    if not dry_run:
        commands.check_root()
    folder = None if data is None else str(Path(data).absolute())
    given = {("server", "data"): folder, ("server", "listen"): listen}
    values = {key: value for key, value in given.items() if value is not None}
    plan = installing.plan(user, _program(program), values, offline)
    for step in plan.steps:
        if not dry_run:
            step.act()
        note(f"Not done (dry run): {step.says}" if dry_run else step.says)
    if dry_run:
        click.echo(plan.unit_text, nl=False)
        return
    if not plan.steps:
        note("Everything is already installed. Nothing was changed.")
    note(installing.enable() if offline else installing.activate(has_changed=bool(plan.steps)))
    note(f"Data folder: {plan.data}")
    if offline:
        note(f"To start the server now: {BEGUN_BY_HAND.format(user=user)}")
    else:
        note(f"wmsd listens on {plan.listen}. The link for the first admin is in the log: journalctl -u {NAME}")
    note(
        f"Other commands need the same settings: give --config {CONFIG}, or set WMSD_CONFIG={CONFIG} in "
        "the environment."
    )


@service_command.command("uninstall")
@with_service_errors
def uninstall() -> None:
    """Stop the service and remove it. The data, the settings, the program and the user stay.

    The command exits with 0 also if there was no service. The command exits with 1 if the service could not be
    removed or systemd is not installed.
    """
    commands.check_root()
    removed = removing.remove()
    if removed is None:
        note("There is no service wmsd on this machine. Nothing was changed.")
        return
    running = "was stopped and" if removed.was_running else "did not run, and was"
    note(f"The service {running} removed.")
    for each in _left(removed.user):
        note(f"Not removed: {each}.")


def _left(user: str) -> Iterator[str]:
    """Yield what is still on the machine after the removal: data, settings, program, user."""
    if (data := _data()) is not None and Path(data).exists():
        yield f"the data in {data}"
    if CONFIG.exists():
        yield f"the settings in {CONFIG}"
    if PROGRAM.exists():
        yield f"the program {PROGRAM}"
    if commands.user_named(user) is not None:
        yield f"the user {user}"


@service_command.command("status")
@json_option
@with_service_errors
def status(as_json: bool) -> None:
    """Show the state of the service, as systemd sees it.

    The command exits with 0 while the service runs, otherwise with 1, also if there is no service or no systemd.
    `wmsd status` says whether the server works well.
    """
    found = service_verdict()
    shown = {"service": " ".join(found.sentences), **found.facts}
    say({"ok": found.ok, **shown} if as_json else shown, as_json)
    if not found.ok:
        sys.exit(1)


def _program(named: Path | None) -> Path:
    if named is not None:
        return named.absolute()
    packing = own_program.packing_form()
    if packing == "file":
        return Path(sys.executable).resolve()
    if packing == "folder":
        raise ServiceError(
            "This wmsd was installed as a Debian package, which includes the service. To start the service: "
            f"systemctl enable --now {NAME}"
        )
    raise ServiceError(
        "This wmsd runs from its sources. Build the executable with scripts/build, and name it: "
        "--program dist/wmsd"
    )


def _data() -> str | None:
    try:
        text = read_config()
        return None if text is None else settings_from(CONFIG, text).server.data
    except (OSError, ServiceError, SettingsError):
        return None
