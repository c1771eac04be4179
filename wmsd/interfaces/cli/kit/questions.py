"""Questions before what cannot easily be taken back."""

from typing import Final

import click

from wmsd.interfaces.cli.kit.command_line import answer_needed_from, end_line, fail

NOTHING: Final = "Nothing was changed."
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def confirm(question: str) -> None:
    """Ends the command with 1 unless somebody says yes. Scripts, which have no terminal, give --yes."""
    with answer_needed_from("--yes"):
        is_agreed = click.confirm(question, err=True)
    if not is_agreed:
        end_line()
        fail([NOTHING])
