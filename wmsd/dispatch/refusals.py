"""Turns the failure of a call into its answer, and logs failures that a person must act on."""

import logging
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.machine.shortages import is_shortage
from wmsd.base.problems import Problem, unavailable
from wmsd.base.repeated_failures import FLAPPING_SECONDS, RepeatedFailures
from wmsd.contract.access import ability_to_read
from wmsd.db.engine.failures import (
    MAY_HAVE_HAPPENED,
    STORAGE_FAILURES,
    FileMoved,
    OutOfTime,
    is_damage,
    problem_of_failure,
)
from wmsd.db.files.company_files import CompanyFiles
from wmsd.dispatch.call import Call, Reply, refusal

LOG = logging.getLogger("wmsd.dispatcher")
READ_SECONDS: Final = 5.0
"""The maximum time of a read, including the time in the queue."""
READS_OF_PLATFORM: Final = "reads of platform.db fail"
SHORT_IN_BETWEEN: Final = "The server ran short of memory, threads or open files:"
SHORT: Final = (
    "The server is short of memory, threads or open files; nothing was changed. Try again in a few seconds."
)
TOOK_TOO_LONG: Final = f"This request took more than {READ_SECONDS:.0f} s and was stopped. Ask for fewer records."


class Refusals:
    def __init__(self, files: CompanyFiles, clock: Clock) -> None:
        self._files = files
        self._told = RepeatedFailures(
            LOG, STORAGE_FAILURES, monotonic=clock.monotonic, settled_seconds=FLAPPING_SECONDS
        )
        self._shortages = RepeatedFailures(LOG, (RuntimeError,))

    def note_admitted(self) -> None:
        """Note that `platform.db` can be read, because a caller was admitted. If an earlier failure to read it was
        logged, log that the failure is over.
        """
        self._told.over(READS_OF_PLATFORM)

    def note_answered(self, call: Call) -> None:
        """Note that the database file that this call uses works, because the call was answered. If an earlier
        failure of this file was logged, log that the failure is over.
        """
        self._told.over(_use(call))

    def reply(self, call: Call, error: Exception) -> Reply:
        """Return the answer to a call that failed with this error."""
        if isinstance(error, Problem):
            error.__traceback__ = None  # breaks a cycle: the frames hold the future, which holds the error
            if error.for_readers is not None and _may_read(call):
                error.details = {**(error.details or {}), **error.for_readers}
            return refusal(error)
        if isinstance(error, OutOfTime):
            return refusal(unavailable(TOOK_TOO_LONG, 5))
        if is_shortage(error):
            self._shortages.failed("requests are refused", error)
            return refusal(broken_off(call.operation.writes and call.operation.needs is not None))
        if isinstance(error, STORAGE_FAILURES):
            return refusal(self._storage_problem(call, error))
        return refusal(_mistake(call, error))

    def _storage_problem(self, call: Call, error: Exception) -> Problem:
        problem = problem_of_failure(error)
        if problem is None:
            return _mistake(call, error)
        if call.tenant is None or not isinstance(error, FileMoved):  # a moved company file is logged elsewhere
            self._told.failed(_use(call), error, call.request_id)
        if is_damage(error):
            if call.tenant is None:
                return unavailable(
                    "The server cannot read its own data now; nothing was changed. Tell the platform admin.", 30
                )
            self._files.suspect(call.tenant.id, error)
        return problem


def _may_read(call: Call) -> bool:
    """Return True if the caller may read the kind of records that the operation uses. The operation itself may
    need another ability.
    """
    ability, caller = call.operation.ability, call.caller
    return ability is not None and caller is not None and ability_to_read(ability) in caller.abilities


def broken_off(may_have_written: bool) -> Problem:
    """Return the Problem for a request that was stopped by a shortage of memory, threads or open files.
    `may_have_written` is True if the request may have changed something before it was stopped.
    """
    if may_have_written:
        return Problem("OUTCOME_UNKNOWN", f"{SHORT_IN_BETWEEN} {MAY_HAVE_HAPPENED}")
    return unavailable(SHORT, 5)


def _use(call: Call) -> str:
    """Return the log text for a failure of the file that this call uses, such as `writes to company 7 fail`. It
    identifies the failure, so that its end can be logged too.
    """
    if call.tenant is None and call.operation.scope == "company":
        return READS_OF_PLATFORM
    use = "writes to" if call.operation.writes else "reads of"
    return f"{use} {'platform.db' if call.tenant is None else f'company {call.tenant.id}'} fail"


def _mistake(call: Call, error: Exception) -> Problem:
    """Log an internal error of wmsd with its details. Return a Problem without these details."""
    LOG.error("%s failed", call.operation.name, exc_info=error, extra={"request_id": call.request_id})
    return Problem("SERVER_ERROR", "The server had an internal error. Look for the request id in its log.")
