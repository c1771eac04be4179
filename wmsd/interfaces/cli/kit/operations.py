"""Runs operations at the command line: the same ones as people do at the pages, by a caller who may do everything.

Here too: the sentence for a code that no record has.
"""

import os
import pwd
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from wmsd.base.problems import Problem
from wmsd.contract.access import ABILITIES
from wmsd.contract.context import PROGRAM, Actor, Caller
from wmsd.contract.operation import Operation
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.warehouse.similar_codes import similar_code

SITE_ADMIN: Final = Caller(PROGRAM, frozenset(ABILITIES), None, role="platform-admin")
LONGEST_NAME: Final = 64


def at_the_command_line() -> Actor:
    """Who the audit says it was: the user of the system, and who became it by sudo."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    sudo = os.environ.get("SUDO_USER", "")
    by = f", by sudo of {sudo[:LONGEST_NAME]}" if sudo.isascii() and sudo.isprintable() and sudo != "" else ""
    return Actor(f"command line, unix user {name}{by}")


async def act(installation: Installation, operation: Operation, **given: Any) -> Any:
    """What the operation on the installation answers. Raises Problem."""
    database = installation.platform
    do = database.write if operation.writes else database.read
    if "caller" in operation.takes:
        given["caller"] = SITE_ADMIN
    return await do(lambda tx: operation.action(tx, **given))


@contextmanager
def errors_by_options(
    options: Mapping[str, str], values: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterator[None]:
    """Errors name the option in place of the field, such as `--role` for `role`. `values` are those of options
    that may be repeated, by field: the error of one of them names it too.
    """
    try:
        yield
    except Problem as problem:
        errors = {_option(path, options, values): sentences for path, sentences in problem.errors.items()}
        raise Problem(problem.code, problem.message, errors=errors) from None


def _option(path: str, options: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> str:
    field, _, place = path.partition(".")
    option = options.get(path) or options.get(field)
    if option is None:
        return path
    given = values.get(field, ())
    return f"{option} {given[int(place)]}" if place.isdecimal() and int(place) < len(given) else option


def not_there(tx: Transaction, noun: str, table: str, typed: str, lists: str) -> str:
    """`lists`: the command that lists the records, with its options."""
    meant = similar_code(tx, table, typed)
    if meant is None:
        return f"There is no {noun} {typed}: `wmsd {lists}` lists them."
    return f"There is no {noun} {typed}. Did you mean {meant}?"
