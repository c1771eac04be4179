"""Audit entries for commands that change company files.

Each entry is written after the change, in a transaction of platform.db.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.base.problems import Problem
from wmsd.base.strict_json import printable
from wmsd.contract.context import PROGRAM, Actor
from wmsd.data_folder.lending import Loan
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, note
from wmsd.tenants.companies import store as companies

Run = Callable[[Callable[[Installation], Awaitable[None]]], None]
LONGEST_NAME: Final = 200
MOST_NAMED: Final = 20


def audit(
    run: Run,
    action: str,
    subject: str,
    details: Mapping[str, object] | None = None,
    actor: Actor = PROGRAM,
) -> None:
    """Write an audit entry. If that fails, only print a note, because the change itself has succeeded.

    `run` opens the installation and calls a function with it. `actor` is the user who started the command in the
    browser. Without `actor`, the person at the command line is the actor.
    """
    who = None if actor is PROGRAM else actor

    async def write(installation: Installation) -> None:
        await installation.platform.write(lambda tx: companies.write_audit(tx, action, subject, details), who)

    try:
        run(write)
    except (Problem, StorageError, *STORAGE_FAILURES) as error:
        note(f"The change was made, but is not in the audit: {' '.join(str(error).split())}")


def audit_import(
    command_line: CommandLine,
    loan: Loan | None,
    act: str,
    company_code: str,
    file_name: str,
    counts: Mapping[str, int],
    actor: Actor,
) -> None:
    """Write the audit entry of an import or of its undo.

    `loan` is the connection to a running server, or None. `act` is `import.run` or `import.undo`, followed by the
    kind of the records. `counts` has the numbers of created, updated and unchanged records.
    """
    name = "".join(each if each.isprintable() else "?" for each in printable(file_name))[:LONGEST_NAME]
    details: dict[str, Any] = {each: {"before": None, "after": count} for each, count in counts.items() if count}
    audit(partial(command_line.run_with, loan), act, f"{company_code} {name}", details, actor)


def audit_fixes(command_line: CommandLine, fixed: Sequence[Mapping[str, Any]]) -> None:
    """Write the audit entry of the problems that `wmsd doctor --fix` has fixed."""
    done = [str(each["fix"]) for each in fixed if each["done"]]
    if done and command_line.folder.is_made:
        more = [f"and {len(done) - MOST_NAMED} more"] if len(done) > MOST_NAMED else []
        shown = {"fixed": {"before": None, "after": [*done[:MOST_NAMED], *more]}}
        audit(command_line.run_again, "doctor.fix", "doctor", shown)
