"""Questions before what cannot easily be taken back."""

import sys
from typing import Final

import click

from wmsd.interfaces.cli.command_line import asked, end_line, fail

NOTHING: Final = "Nothing was changed."
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def is_asked(yes: bool) -> bool:
    """Only at a terminal: scripts, which have none, go on."""
    return not yes and sys.stdin.isatty()


def confirm(question: str) -> None:
    """Ends the command with 1 unless somebody says yes."""
    with asked("--yes"):
        is_agreed = click.confirm(question, err=True)
    if not is_agreed:
        end_line()
        fail([NOTHING])
