"""The command `wmsd config`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from wmsd.base.machine.private_files import new_private
from wmsd.interfaces.cli.kit.command_line import (
    DEFAULT_CONFIG,
    CommandLine,
    fail,
    json_option,
    note,
    with_installation,
)
from wmsd.interfaces.cli.maintenance.findings import print_findings, verdict_of_findings
from wmsd.maintenance.doctor.findings import BEFORE_START, diagnose
from wmsd.maintenance.doctor.situation import Situation
from wmsd.settings.environment import unused_variables
from wmsd.settings.toml_writer import as_toml, example


@click.group()
def config_command() -> None:
    """Show and check the settings.

    A flag overrides the environment, the environment overrides the file, and the file overrides the default.
    """


@config_command.command("show")
@json_option
@with_installation
def show(command_line: CommandLine, as_json: bool) -> None:
    """Show the settings in force."""
    _say_file(command_line)
    settings = command_line.settings
    click.echo(json.dumps(settings.model_dump(), indent=2) if as_json else as_toml(settings), nl=as_json)


@config_command.command("check")
@with_installation
def check(command_line: CommandLine) -> None:
    """Check the settings, and the address, files, folders and programs that they name. Nothing is written or sent.

    If the server cannot start with these settings, or cannot do all that they say, the command says why and what
    to do. The command then exits with 1. Run the command as the user that runs the server. The server may be
    running during the check.
    """
    _say_file(command_line)
    for sentence in unused_variables(command_line.settings.webhooks.proxy):
        note(sentence)
    situation = Situation(
        folder=command_line.folder,
        settings=command_line.settings,
        now=datetime.now(UTC),
        config_file=command_line.config_file,
    )
    found = diagnose(situation, groups=BEFORE_START)
    print_findings(found, note)
    if any(each.is_wrong for each in found):
        fail([f"The server cannot work fully with these settings: {verdict_of_findings(found)}."])
    note(f"The settings can be used: {verdict_of_findings(found)}." if found else "The settings have no errors.")


@config_command.command("init")
@click.argument("file", metavar="[FILE]", default=DEFAULT_CONFIG, type=click.Path(path_type=Path, dir_okay=False))
def init(file: Path) -> None:
    """Write a configuration file with every setting, its meaning and its default.

    FILE is config.toml by default. An existing file is never changed.
    """
    try:
        with new_private(file) as new:  # the file may later contain secrets of sign-on providers
            new.write(example().encode())
    except FileExistsError:
        fail([f"{file} already exists. Nothing was changed."])
    note(f"{file} has every setting with its default. Remove the # from each setting that you change.")
    note("Then check the file: wmsd config check")


def _say_file(command_line: CommandLine) -> None:
    command_line.say_folder()
    note(f"Configuration file: {command_line.config_file or 'none (there is no ./config.toml)'}")
