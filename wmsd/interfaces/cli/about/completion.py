"""The command `wmsd completion`."""

import os
from pathlib import Path
from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from wmsd.interfaces.cli.kit.command_line import note

SHELLS: Final = ("bash", "zsh", "fish")
PLACES: Final = {
    "bash": "bash-completion/completions/wmsd",
    "zsh": "zsh/site-functions/_wmsd",
    "fish": "fish/vendor_completions.d/wmsd.fish",
}
"""The completion file of each shell, relative to the user's XDG_DATA_HOME."""
VARIABLE: Final = "_WMSD_COMPLETE"
ZSH: Final = "To let zsh find the file, put `fpath=({folder} $fpath)` before `compinit` in ~/.zshrc."


@click.group()
def completion_command() -> None:
    """Set up the shell to complete commands and options."""


@completion_command.command("install")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def install(shell: str | None) -> None:
    """Install the completion for SHELL, for the current user. Without SHELL, your login shell is used."""
    chosen = shell or Path(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise click.UsageError(f"Name the shell: {', '.join(SHELLS)}.")
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    file = Path(home, PLACES[chosen])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{script(chosen)}\n", encoding="utf-8")
    note(f"The completion for {chosen} is in {file}. Start a new shell to use the completion.")
    if chosen == "zsh":
        note(ZSH.format(folder=file.parent))


@completion_command.command("show")
@click.argument("shell", type=click.Choice(SHELLS))
def show(shell: str) -> None:
    """Print the completion script for SHELL, to install it elsewhere."""
    click.echo(script(shell))


def script(shell: str) -> str:
    from wmsd.interfaces.cli.main import wmsd  # imported here, because `wmsd` contains this command

    completing: type[ShellComplete] | None = get_completion_class(shell)
    assert completing is not None
    return completing(wmsd, {}, "wmsd", VARIABLE).source().rstrip("\n")
