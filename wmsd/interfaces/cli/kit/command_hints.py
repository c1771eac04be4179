"""Completes the commands that a sentence suggests: adds the --data and the --config that this command was given.

Every sentence passes here on its way to a person: those of commands, of the log, of alerts, and of pages that site
admins read. Nobody else is told where the files of a server are: not other people, and no program over HTTP.
So whoever writes a sentence names the command, its arguments and its own options, and neither of these two.
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
"""The name of a program, and two words after it, of which the second may be an argument."""
COMPLETED: Final = re.compile(r"""(?: --(?:data|config) (?:'[^']*'|"[^"]*"|[^\s'"])+)*""")
"""Options that were added before, with values as a shell reads them."""
OPTIONS: Final = {"data": "--data", "config_file": "--config"}
"""The options that say which installation is meant, by the names of their parameters."""


def complete_commands(text: str) -> str:
    """The text with complete commands, for the command that runs now."""
    return command_completer()(text)


def command_completer() -> Complete:
    """What completes the commands of a text as this command needs it. Later it may be called on any thread."""
    return _by(_given(click.get_current_context(silent=True)))


def completing_anywhere(data: Path, config_file: Path | None) -> Complete:
    """As above, for pages and alerts: who reads them types in another folder and environment than the server's."""
    files = {"--data": data} if config_file is None else {"--data": data, "--config": config_file}
    return _by({option: _quoted(file) for option, file in files.items()})


def _by(given: Mapping[str, str]) -> Complete:
    return (lambda text: completed(text, given) if "wmsd " in text else text) if given else NOTHING_ADDED


def _quoted(file: Path) -> str:
    return shlex.quote(str(file.absolute()))


def _given(context: click.Context | None) -> Mapping[str, str]:
    """By option, what this command was given on its line: other commands find the environment as it did."""
    if context is None:
        return {}
    return {
        option: _quoted(Path(context.params[name]))
        for name, option in OPTIONS.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def completed(text: str, given: Mapping[str, str]) -> str:
    """The options follow the name of the command: where its arguments end, a sentence does not tell."""
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
    return text[:0].join([*parts, text[end:]])  # of the same kind: a page's text escapes what is added


def command_in(found: re.Match[str]) -> tuple[int, set[str]]:
    """Where the name of the command ends, and its options, if it is one of those that act on an installation."""
    from wmsd.interfaces.cli.kit.subcommand_names import WithOthers
    from wmsd.interfaces.cli.main import COMMANDS, wmsd  # imported here: it has the table of all commands

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
