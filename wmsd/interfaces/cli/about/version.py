"""The command `wmsd version`."""

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
    if as_json:
        # imported here, because the version alone starts faster without it
        from wmsd.db.migrations import COMPANY, PLATFORM

        schemas = {kind.name: len(kind.scripts()) for kind in (PLATFORM, COMPANY)}
        click.echo(json.dumps({"name": "wmsd", "version": __version__, "schemas": schemas}))
    else:
        click.echo(f"wmsd {__version__}")
