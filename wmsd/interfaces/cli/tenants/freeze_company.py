"""Freezes and thaws a company of this installation, for `wmsd company export --freeze`, `move` and `thaw`."""

import logging
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from wmsd.base.problems import Problem
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.interfaces.cli.kit.command_line import CommandLine, note
from wmsd.interfaces.cli.kit.operations import at_the_command_line
from wmsd.maintenance.company_moves.freeze import FREEZE, FREEZE_SECONDS, THAW, Freeze, begin_freeze
from wmsd.tenants.companies import actions


def freeze(command_line: CommandLine, loan: Loan | None, code: str) -> Freeze:
    """Freeze the company, and return a Freeze. Raise Problem (404) or StorageError if this fails.

    After an error, the company is not frozen, unless it was frozen before.
    """
    if loan is not None:
        return Freeze(**loan.ask(FREEZE, [code, at_the_command_line().name], FREEZE_SECONDS))
    if command_line.folder.server() is not None:
        raise StorageError(
            f"The running server cannot freeze {code}, because the disk of the data folder does not support "
            "sockets. "
            "Stop the server, then try again."
        )
    logging.getLogger("wmsd.companies").addHandler(logging.NullHandler())  # its errors are raised here too
    with command_line.folder.alone():
        done = command_line.run_with(None, lambda at: begin_freeze(at, code, at_the_command_line()))
    return Freeze(done.since, done.was_already)


@contextmanager
def company_freeze(command_line: CommandLine, loan: Loan | None, code: str) -> Iterator[Freeze]:
    """Freeze the company, and leave it frozen if the work inside the context succeeds.

    If the work fails, end the freeze, and print whether the company is frozen now. A company that was frozen
    before stays frozen.
    """
    done = freeze(command_line, loan, code)
    try:
        yield done
    except BaseException:
        note(_given_up(command_line, loan, code, done))
        raise


def _given_up(command_line: CommandLine, loan: Loan | None, code: str, done: Freeze) -> str:
    if not done.was_already:
        with suppress(Problem, *STORAGE_FAILURES):
            _thaw(command_line, loan, code)
            return f"{code} is not frozen: the company accepts changes again."
    return f"{code} is still frozen, since {done.since}. To end the freeze: {thaw_of(code)}"


def thaw_of(code: str) -> str:
    """Return the command that ends the freeze."""
    return f"wmsd company thaw {shlex.quote(code)}"


def thaw(command_line: CommandLine, code: str) -> None:
    command_line.find()
    with beside_a_server(command_line.folder) as loan:
        was_frozen = _thaw(command_line, loan, code)
    if not was_frozen:
        note(f"{code} is not frozen. Nothing was changed.")
        return
    note(f"{code} accepts changes again, and sends its webhooks.")
    note(
        "If an exported copy is already in use in another installation, the two are now separate: "
        "changes in one do not appear in the other."
    )


def _thaw(command_line: CommandLine, loan: Loan | None, code: str) -> bool:
    if loan is not None:
        return bool(loan.ask(THAW, [code, at_the_command_line().name]))
    return command_line.run_with(None, lambda at: at.platform.write(lambda tx: actions.thaw_company(tx, code)))
