"""Runs operations for commands, and converts the errors to sentences. The pages in the browser use the same
operations.

Commands run every operation with all rights.
"""

import os
import pwd
import re
import shlex
from collections.abc import Sequence
from typing import Any, Final

import click

from wmsd.base.problems import Problem
from wmsd.contract.access import ABILITIES
from wmsd.contract.context import PROGRAM, Actor, Caller
from wmsd.contract.operation import Operation
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.tenants.accounts import last_admin
from wmsd.tenants.companies.unknown_codes import SEPARATORS
from wmsd.warehouse.similar_codes import similar_code

SITE_ADMIN: Final = Caller(PROGRAM, frozenset(ABILITIES), None, role="platform-admin")
LONGEST_NAME: Final = 64
MAKE_ADMIN: Final = "wmsd user create EMAIL --role platform-admin --link"
RESET_PASSWORD: Final = "wmsd user reset-password"
OF_VALUE: Final = ("is taken", "is not a", "is not known")
"""The beginnings of errors about the value of an option, such as an unknown code. Such an error is printed with
the value before it.
"""
FIELD: Final = "field_"
"""The prefix of a command's Python parameters that set a field. It keeps their names different from the names of
the command's further parameters.

The prefix also marks the options that set a field. If such an option is given several times, an error names the
option without its values.
"""
OF_CODES: Final = re.compile("_codes?$")
"""The end of a field name that the option leaves out: `partner_code` becomes `--partner`."""


def at_the_command_line() -> Actor:
    """Return the actor for the audit: the Unix user, and the user who called sudo, if any."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    sudo = os.environ.get("SUDO_USER", "")
    by = f", by sudo of {sudo[:LONGEST_NAME]}" if sudo.isascii() and sudo.isprintable() and sudo != "" else ""
    return Actor(f"command line, unix user {name}{by}")


async def act(installation: Installation, operation: Operation, **given: Any) -> Any:
    """Run the operation on the installation and return its answer. Raise Problem if the operation is refused."""
    database = installation.platform
    do = database.write if operation.writes else database.read
    if "caller" in operation.takes:
        given["caller"] = SITE_ADMIN
    return await do(lambda tx: operation.action(tx, **given))


def needed_id(tx: Transaction, found: int | None, noun: str, table: str, typed: str, lists: str) -> int:
    """Return `found`, the id of a record. Raise Problem (404) if `found` is None.

    The error suggests a similar code from `table`. If there is none, it names the command that lists the records:
    `lists` is this command with its options. `noun` is the kind of record, and `typed` the code that was not
    found.
    """
    if found is not None:
        return found
    meant = similar_code(tx, table, typed)
    if meant is None:
        raise Problem("NOT_FOUND", f"No {noun} has the code {typed}. `wmsd {lists}` lists the codes.")
    raise Problem("NOT_FOUND", f"No {noun} has the code {typed}. Did you mean {meant}?")


def typed_sentences(problem: Problem) -> list[str]:
    """Return the errors of the problem as sentences. They name options and arguments of the running command
    instead of fields.
    """
    sentences = [f"{_as_typed(path, texts[0])} {'; '.join(texts)}." for path, texts in problem.errors.items()]
    return [_with_commands(each) for each in sentences or [problem.message]]


def _with_commands(sentence: str) -> str:
    """Return the sentence, with a command in place of an instruction for a page. The command does what the page
    does.
    """
    changed = last_admin.LINK_AT_THE_PAGES.sub(lambda at: f"{RESET_PASSWORD} {shlex.quote(at[1])}", sentence)
    return changed.replace(last_admin.AT_THE_PAGES, MAKE_ADMIN)


def _as_typed(path: str, text: str) -> str:
    """Return the option or argument of the running command that sets the field at `path`. Return `path` itself if
    there is none.

    `text` is the error. If the user must know which value is meant, the result also has the value.
    """
    field, _, number = path.partition(".")
    context = click.get_current_context(silent=True)
    if context is None:
        return path
    parameters = context.command.params
    own = (FIELD + path.replace(".", "__"), FIELD + field)
    by_name = (field, _option(field), _option(OF_CODES.sub("", field)))
    of_field = [each for each in parameters if each.name in own]
    named = [each for each in parameters if not {each.name, _name(each), *each.opts}.isdisjoint(by_name)]
    if not of_field and not named:
        return path
    given = [*of_field, *named][0]
    name, value = _name(given), context.params.get(given.name or "")
    if isinstance(value, tuple) and not of_field and number.isdecimal() and int(number) < len(value):
        return name if _begins_with_one(text, value) else f"{name} {value[int(number)]}"
    return f"{name} {value}" if isinstance(value, str) and text.startswith(OF_VALUE) else name


def _begins_with_one(text: str, values: Sequence[object]) -> bool:
    """Return True if the error text already begins with the wrong value. `values` are the values of an option.

    A value may be a list of several codes. Then the text may also begin with one of these codes.
    """
    first, _, _ = text.partition(" ")
    return any(text.startswith(f"{each} ") or first in SEPARATORS.split(str(each)) for each in values)


def _name(given: click.Parameter) -> str:
    """Return the option or argument as people type it."""
    if isinstance(given, click.Option):
        return given.opts[0]
    return given.human_readable_name.strip("[].")


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"
