"""Questions before what cannot easily be taken back."""

import sys
from typing import Final

import click

from wmsd.interfaces.cli.command_line import fail

NOTHING: Final = "Nothing was changed."
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def is_asked(yes: bool) -> bool:
    """Only at a terminal: scripts, which have none, go on."""
    return not yes and sys.stdin.isatty()


def confirm(question: str) -> None:
    """Exits with 1 when the answer is no, or there is none."""
    try:
        is_wanted = click.confirm(question, err=True)
    except click.Abort:
        click.echo(err=True)
        is_wanted = False
    if not is_wanted:
        fail([NOTHING])
