"""`wmsd version`."""

import json
from pathlib import Path

import click

from wmsd import __version__


@click.command()
@click.option("--config", type=click.Path(path_type=Path), hidden=True, help="Not needed here.")
@click.option("--data", type=click.Path(path_type=Path), hidden=True, help="Not needed here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def version_command(config: Path | None, data: Path | None, as_json: bool) -> None:
    """Show the version."""
    click.echo(json.dumps({"name": "wmsd", "version": __version__}) if as_json else f"wmsd {__version__}")
