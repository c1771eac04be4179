"""The command `wmsd licenses`."""

import click

from wmsd.host.licences import components
from wmsd.interfaces.cli.kit.command_line import json_option, say, say_text


@click.command()
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="Print the text of every licence.")
@json_option
def licenses_command(name: str | None, full: bool, as_json: bool) -> None:
    """List the third-party components of wmsd with their licences; with NAME, print the licence of that component.

    wmsd itself has the MIT licence.
    """
    found = components()
    if name is not None:
        found = [each for each in found if each.name.lower() == name.lower()]
        if not found:
            raise click.UsageError(f"No component has the name {name}. To list the names: wmsd licenses")
    if full or (name is not None and not as_json):
        for each in found:
            say_text(f"{each.name} {each.version}: {each.licence}\n\n{each.text.strip()}\n")
    else:
        say([{"name": each.name, "version": each.version, "licence": each.licence} for each in found], as_json)
