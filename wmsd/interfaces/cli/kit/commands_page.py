"""The pages of the guide that describe every command, generated from the commands."""

import re
from collections.abc import Callable, Iterator, Sequence
from inspect import cleandoc
from typing import Final

import click

from wmsd.interfaces.cli.kit.subcommand_names import WithOthers
from wmsd.interfaces.guide.source import Source

OF_RECORDS: Final = frozenset(
    (
        *("import", "export", "article", "client", "partner", "warehouse", "stock", "count"),
        *("sales-order", "purchase-order", "reception", "return", "packaging"),
        *("webhook", "graphql", "billing"),
    )
)
"""The commands on the page about records. They have their own page, because a page with all commands loads slowly
on a phone.
"""
SHARED: Final = frozenset({"--config", "--data", "--help"})
"""Options of nearly every command, which the page describes only once."""
ABOVE: Final = """# Commands

The commands for the person who runs `wmsd`. The commands for a company's records are on [another
page](/docs/record-commands). Commands work while a server runs, and the server applies their changes within a
second, unless the command says otherwise. `--help` describes each command. The exit status is 0 if the command
succeeded, 1 if it failed, and 2 if wmsd did not understand the command line.

Every command that works with the data has the options `--data DIR`, the data folder, and `--config FILE`, the
configuration file. The defaults are `./data`, and `./config.toml` if it exists. If a number has two possible
meanings, such as `1.000`, [wmsd asks](/docs/stock#adjusting).
"""
ABOVE_RECORDS: Final = """# Commands for records

The commands that list, show and change a company's records: articles, stock, documents, webhooks. The rules for
all commands are on [the page Commands](/docs/commands).
"""
MARKS: Final = re.compile(r"([\\*_<>\[\]|~&])")
KEPT_LINES: Final = "\b\n"
"""The mark that click needs before lines that must not be wrapped."""


def commands_page() -> str:
    return _page(ABOVE, lambda name: name not in OF_RECORDS)


def record_commands_page() -> str:
    return _page(ABOVE_RECORDS, lambda name: name in OF_RECORDS)


def _page(above: str, has: Callable[[str], bool]) -> str:
    from wmsd.interfaces.cli.main import wmsd  # imported here, because it has the table of all commands

    lines = [above]
    context = click.Context(wmsd, info_name="wmsd", **wmsd.context_settings)
    for name in filter(has, wmsd.list_commands(context)):
        lines += _command(wmsd, name, context, level=2)
    return "\n".join(lines)


def _command(group: click.Group, name: str, above: click.Context, level: int) -> Iterator[str]:
    command = group.get_command(above, name)
    if command is not None and not command.hidden:
        yield from _section(command, name, above, level)


def _section(command: click.Command, name: str, above: click.Context, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=above)
    yield from (f"{'#' * level} {context.command_path}", "", *_described(cleandoc(command.help or "")))
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _command(command, each, context, level + 1)
    else:
        yield from (f"`{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`", "")
        yield from (*_options(command, context), "", *_described(cleandoc(command.epilog or "")))
        if isinstance(command, WithOthers):
            for other, another in command.others.items():
                yield from _section(another, f"{name} {other}", above, level + 1)


def _described(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(KEPT_LINES):
            yield from ("```", paragraph.removeprefix(KEPT_LINES), "```", "")
        else:
            yield from (_as_text(paragraph), "")


def _options(command: click.Command, context: click.Context) -> Sequence[str]:
    records = [
        record
        for parameter in command.get_params(context)
        if SHARED.isdisjoint(parameter.opts) and (record := parameter.get_help_record(context)) is not None
    ]
    return [f"- `{names}` {_as_text(help_text)}" for names, help_text in records if help_text]


def _as_text(text: str) -> str:
    """Return the text with the special characters of Markdown escaped, except the backticks of code."""
    parts = text.split("`")
    parts[::2] = (MARKS.sub(r"\\\1", part) for part in parts[::2])
    return "`".join(parts)


COMMANDS: Final = {
    "commands": Source("Commands", commands_page),
    "record-commands": Source("Commands for records", record_commands_page),
}
"""The pages of commands, by name."""
