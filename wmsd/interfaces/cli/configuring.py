"""`wmsd config`."""

import json

import click

from wmsd.app.settings import as_toml
from wmsd.interfaces.cli.installation import Installation, installed, json_option, note


@click.group()
def config_command() -> None:
    """Show and check the settings.

    A flag overrides the environment, the environment overrides the file, and the file overrides the default.
    """


@config_command.command("show")
@json_option
@installed
def show(installation: Installation, as_json: bool) -> None:
    """Show the settings in force."""
    _say_file(installation)
    settings = installation.settings
    click.echo(json.dumps(settings.model_dump(), indent=2) if as_json else as_toml(settings), nl=as_json)


@config_command.command("check")
@installed
def check(installation: Installation) -> None:
    """Check the settings. When one is wrong, say what is wrong and exit with 1."""
    _say_file(installation)
    note("The settings are good.")


def _say_file(installation: Installation) -> None:
    installation.say_folder()
    note(f"Configuration file: {installation.config_file or 'none; ./config.toml would be read'}")
