"""Questions before a change that cannot easily be undone."""

from typing import Final

import click

from wmsd.interfaces.cli.kit.command_line import answer_needed_from, end_line, fail

NOTHING: Final = "Nothing was changed."
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def confirm(question: str) -> None:
    """Ask the question. If the answer is not yes, exit with status 1.

    Without a terminal, such as in a script, nobody can answer: use --yes there.
    """
    with answer_needed_from("--yes"):
        is_agreed = click.confirm(question, err=True)
    if not is_agreed:
        end_line()
        fail([NOTHING])
