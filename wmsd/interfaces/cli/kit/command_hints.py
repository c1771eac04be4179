"""Adds --data and --config to the wmsd commands that a sentence suggests. Then the suggested command works on the
same installation as the running command.

Sentences in the code name a command without --data and --config. This module adds them in the output of commands,
in log lines, in alerts, and on pages for platform admins. Sentences on all other pages stay unchanged, because
only platform admins may learn the paths of the server's files.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from wmsd.contract.command_hints import NOTHING_ADDED, Complete

SUGGESTED: Final = re.compile(
    r"(?<![\w/.-])wmsd (?P<command>[a-z]+(?:-[a-z]+)*)(?: (?P<other>[a-z]+(?:-[a-z]+)*))?"
)
"""A pattern for `wmsd` and one or two words after it. The second word may be a subcommand or an argument."""
COMPLETED: Final = re.compile(r"""(?: --(?:data|config) (?:'[^']*'|"[^"]*"|[^\s'"])+)*""")
"""A pattern for the --data and --config options that a suggested command already has. Values may be quoted."""
OPTIONS: Final = {"data": "--data", "config_file": "--config"}
"""The options that choose the installation. The keys are the Python names of their parameters."""


def complete_commands(text: str) -> str:
    """Add the --data and --config of the running command to the commands in `text`, and return the new text."""
    return command_completer()(text)


def command_completer() -> Complete:
    """Return a function that does the same as `complete_commands`. Any thread may call the returned function."""
    return _by(_given(click.get_current_context(silent=True)))


def completing_anywhere(data: Path, config_file: Path | None) -> Complete:
    """Return a function that adds --data and --config to the commands in a text, for pages and alerts.

    The function always adds these options. Readers may work in another folder or environment than the server.
    """
    files = {"--data": data} if config_file is None else {"--data": data, "--config": config_file}
    return _by({option: _quoted(file) for option, file in files.items()})


def _by(given: Mapping[str, str]) -> Complete:
    return (lambda text: completed(text, given) if "wmsd " in text else text) if given else NOTHING_ADDED


def _quoted(file: Path) -> str:
    return shlex.quote(str(file.absolute()))


def _given(context: click.Context | None) -> Mapping[str, str]:
    """Return the values of --data and --config that were given on the command line, by option.

    Values from environment variables are left out: the suggested command reads these variables itself.
    """
    if context is None:
        return {}
    return {
        option: _quoted(Path(context.params[name]))
        for name, option in OPTIONS.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def completed(text: str, given: Mapping[str, str]) -> str:
    """Return the text with the missing options added to its commands. `given` has the value of each option.

    The options are inserted after the command's name, because a sentence does not show where its arguments end.
    """
    end, parts = 0, []
    for found in SUGGESTED.finditer(text):
        place, known = command_in(found)
        there = COMPLETED.match(text, place)
        missing = [
            f" {option} {value}"
            for option, value in given.items()
            if option in known and there is not None and f" {option} " not in there[0]
        ]
        parts += [text[end:place], *missing]
        end = place
    return text[:0].join([*parts, text[end:]])  # keeps the type of `text`: Markup escapes the parts that are added


def command_in(found: re.Match[str]) -> tuple[int, set[str]]:
    """Return the position at which the command's name ends in the text, and the names of the command's options.

    `found` is a match of SUGGESTED. The set of options is empty unless the command has both --data and --config.
    """
    from wmsd.interfaces.cli.kit.subcommand_names import WithOthers

    # imported here, because main has the table of all commands
    from wmsd.interfaces.cli.main import COMMANDS, wmsd

    name, other = found["command"], found["other"] or ""
    context = click.Context(wmsd, resilient_parsing=True)
    command = wmsd.get_command(context, name) if name in COMMANDS else None
    others: Mapping[str, click.Command] = {}
    if isinstance(command, click.Group):
        others, command = command.commands, None
    elif isinstance(command, WithOthers):
        others = command.others
    if other in others:
        return found.end("other"), _options(others[other])
    return found.end("command"), set() if command is None else _options(command)


def _options(command: click.Command) -> set[str]:
    found = {option for each in command.params for option in each.opts}
    return found if found >= {*OPTIONS.values()} else set()
