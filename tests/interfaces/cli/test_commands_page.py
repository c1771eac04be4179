"""The guide's pages of commands list every command, with its complete help."""

import re
from collections.abc import Iterator
from functools import cache

import click
import pytest

from wmsd.interfaces.cli.kit.commands_page import OF_RECORDS, commands_page, record_commands_page
from wmsd.interfaces.cli.kit.subcommand_names import WithOthers
from wmsd.interfaces.cli.main import wmsd
from wmsd.interfaces.guide.markdown import Document, read_markdown

SHARED = {"--config", "--data", "--help", "-h"}


@cache
def pages() -> list[Document]:
    return [read_markdown(each()) for each in (commands_page, record_commands_page)]


def commands(group: click.Group, above: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=above)
        yield command, context
        if isinstance(command, click.Group):
            yield from commands(command, context)
        if isinstance(command, WithOthers):
            for other, another in command.others.items():
                yield another, click.Context(another, info_name=f"{name} {other}", parent=above)


ALL = list(commands(wmsd, click.Context(wmsd, info_name="wmsd")))


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def test_every_command_has_a_section_once() -> None:
    headings = [[heading.text for heading in page.headings] for page in pages()]
    paths = [context.command_path for _, context in ALL]
    of_records = [path for path in paths if path.split()[1] in OF_RECORDS]
    assert headings == [[path for path in paths if path not in of_records], of_records]
    assert min(map(len, headings)) > 50


@pytest.mark.parametrize(("command", "context"), ALL, ids=lambda each: getattr(each, "command_path", ""))
def test_its_section_says_what_its_help_says(command: click.Command, context: click.Context) -> None:
    [section] = [each for page in pages() for each in page.sections if each.heading == context.command_path]
    said = words(section.text)
    assert said.startswith(words(command.help or ""))
    if isinstance(command, click.Group):
        return
    assert " ".join([context.command_path, *command.collect_usage_pieces(context)]) in section.text
    assert said.endswith(words(command.epilog or ""))
    for option in command.get_params(context):
        names, told = option.get_help_record(context) or ("", "")
        assert not told or not SHARED.isdisjoint(option.opts) or words(f"{names} {told}") in said


def test_no_text_of_a_command_is_taken_for_a_mark() -> None:
    shown = "".join(page.rest for page in pages())
    assert not re.search(r"<(em|strong|a)\b(?! class=\"anchor\")", shown)
    assert shown.count("<pre") <= 20, "only what click is told to keep as it is"
