"""`wmsd config`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from wmsd.app.private_files import new_private
from wmsd.app.settings import as_toml, example
from wmsd.app.tls.serving import certificate_warnings, check_files
from wmsd.interfaces.cli.command_line import DEFAULT_CONFIG, CommandLine, fail, installed, json_option, note


@click.group()
def config_command() -> None:
    """Show and check the settings.

    A flag overrides the environment, the environment overrides the file, and the file overrides the default.
    """


@config_command.command("show")
@json_option
@installed
def show(command_line: CommandLine, as_json: bool) -> None:
    """Show the settings in force."""
    _say_file(command_line)
    settings = command_line.settings
    click.echo(json.dumps(settings.model_dump(), indent=2) if as_json else as_toml(settings), nl=as_json)


@config_command.command("check")
@installed
def check(command_line: CommandLine) -> None:
    """Check the settings. When one is wrong, say what is wrong and exit with 1."""
    _say_file(command_line)
    check_files(command_line.settings.server)
    for sentence in certificate_warnings(command_line.settings.server, datetime.now(UTC)):
        note(f"Warning: {sentence}")
    note("The settings are good.")


@config_command.command("init")
@click.argument("file", metavar="[FILE]", default=DEFAULT_CONFIG, type=click.Path(path_type=Path, dir_okay=False))
def init(file: Path) -> None:
    """Write a configuration file with every setting, its meaning and its default, to change there.

    FILE is config.toml, unless you say otherwise. One that is there already is left as it is.
    """
    try:
        with new_private(file) as new:  # secrets of providers may come into it
            new.write(example().encode())
    except FileExistsError:
        fail([f"{file} is there already. Nothing was changed."])
    note(f"{file} has every setting with its default. Remove the # of those that you change.")
    note("Then check it: wmsd config check")


def _say_file(command_line: CommandLine) -> None:
    command_line.say_folder()
    note(f"Configuration file: {command_line.config_file or 'none; ./config.toml would be read'}")
