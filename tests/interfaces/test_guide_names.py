"""Everything that the guide and the README name exists: commands with options, settings, addresses, events,
abilities.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from wmsd import docs
from wmsd.base.problems import STATUS_OF_CODE, Problem
from wmsd.contract.access import ABILITIES, MODULES
from wmsd.contract.route import RouteTable
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.cli.main import wmsd
from wmsd.interfaces.graphql import over_http
from wmsd.interfaces.pages.kit.text.words import DISPOSITIONS, STATUSES
from wmsd.interfaces.service import SERVED
from wmsd.settings.all_settings import declared_settings, sections

OF_THE_PAST = {"changelog"}
"""Pages that name things of earlier versions."""
FILES = [*sorted(Path(docs.__file__).parent.glob("*.md")), Path(docs.__file__).parents[2] / "README.md"]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in FILES if path.stem not in OF_THE_PAST}
BESIDE_ROUTES = {over_http.SCHEMA}
FILE_NAMES = re.compile(r"\.(?:py|lock|csv|json|socket)$")
FENCE = re.compile(r"^ *```\w*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
OF_MESSAGES = "troubleshooting"
"""The page whose tables start with messages of the program; a message may start with the program's name."""
ROW = re.compile(r"^\| `[^`]+` \|", re.MULTILINE)
METHOD = "(?:GET|POST|PUT|PATCH|DELETE)"
CALL = re.compile(rf"{METHOD}(?:` (?:and|or) `{METHOD})?[ `]+(/api[^\s`?\"']*)")


def test_every_command_is_there_with_its_options() -> None:
    wrong = [f"{page}: {line}" for page, line in commands() if not is_command(line)]
    assert wrong == []
    assert len(list(commands())) > 100


def test_a_command_that_is_not_there_is_found() -> None:
    assert is_command("wmsd company create ACME --name X --all-modules # a comment")
    assert not is_command("wmsd company make ACME")
    assert not is_command("wmsd company create ACME --nme X")


def commands() -> Iterator[tuple[str, str]]:
    """Yield page and line of each complete command."""
    for page, text in PAGES.items():
        blocks = FENCE.findall(text)
        rest = FENCE.sub("", text if page != OF_MESSAGES else ROW.sub("", text))
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        for line in [*lines, *(" ".join(code.split()) for code in CODE.findall(rest))]:
            command = line.lstrip().removeprefix("$").lstrip()  # a prompt, or the variable of the README
            if command.startswith("wmsd "):
                yield page, command


def is_command(line: str) -> bool:
    _, *words = shlex.split(re.split(r" [>|] ", line)[0], comments=True)
    command: click.Command = wmsd
    # the context settings change the names that commands accept
    context = click.Context(wmsd, info_name="wmsd", **wmsd.context_settings)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        found = command.get_command(context, name)
        if found is None:
            return False
        command = found
        context = click.Context(command, info_name=name, parent=context)
    known = {name for each in command.get_params(context) for name in (*each.opts, *each.secondary_opts)}
    return all(word.partition("=")[0] in known for word in words if word.startswith("--"))


def test_every_setting_is_there() -> None:
    known = {f"{section}.{key}" for section, key, _ in declared_settings()}
    wrong = [
        f"{page}: {name}"
        for page, text in PAGES.items()
        for name in re.findall(rf"`((?:{'|'.join(sections())})\.[a-z_]+)", text)
        if name not in known and not FILE_NAMES.search(name)
    ]
    assert wrong == []


def test_every_address_of_the_api_is_there() -> None:
    table = RouteTable([*SERVED, *over_http.ROUTES])
    wrong = []
    for page, text in PAGES.items():
        for found in CALL.finditer(text):
            path = re.sub(r"\{[a-z_]+\}", "1", found[1].rstrip(".,:;)"))
            for method in re.findall(METHOD, found[0]) if path not in BESIDE_ROUTES else ():
                try:
                    table.find(method, path)
                except Problem:
                    wrong.append(f"{page}: {method} {path}")
    assert wrong == []


def test_every_code_event_and_ability_is_there() -> None:
    known = {*STATUS_OF_CODE, *STATUSES, *EVENTS, *ABILITIES, *MODULES, "webhook.test"}
    kinds = {name.partition(".")[0] for name in EVENTS}
    wrong = [
        f"{page}: {name}"
        for page, text in PAGES.items()
        for name in re.findall(rf"`((?:{'|'.join(kinds)})\.[a-z_]+|[a-z-]+:(?:read|write))`", text)
        if name not in known and not FILE_NAMES.search(name)
    ]
    assert wrong == []


def test_statuses_and_dispositions_have_the_names_that_pages_show() -> None:
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| (.+) \|$", PAGES["pages"], re.MULTILINE))
    assert told == {**STATUSES, **DISPOSITIONS}


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_status_that_is_not_there(page: str) -> None:
    asked = re.findall(r'"status": "([A-Z_]+)"', PAGES[page])
    assert set(asked) <= set(STATUSES)
