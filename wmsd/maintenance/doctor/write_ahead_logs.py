"""Findings about write-ahead logs: whether each database file has its log.

If a person copied only the database file while a server was running, the copy lacks the changes in the log. The
copy itself does not show this, but `platform.db` may have recorded a later change. The index of a log (`-shm`) is
not checked. A killed server may have left it, and the next server does not need it.
"""

from typing import Final

from wmsd.base import timestamps
from wmsd.contract.findings import FindingKind, Found
from wmsd.db.engine.sqlite import log_bytes
from wmsd.db.files.read_only_copy import has_log, mark_of
from wmsd.maintenance.doctor.situation import Situation

LARGEST_LOG: Final = 256 * 1024 * 1024
"""If a write-ahead log has more bytes than this, the doctor reports it. A server copies the changes in a log into
the database file when the log has 4 MB, and truncates the log at 16 MB. A log grows larger only during a long
read.
"""
LOG_MISSING: Final = FindingKind(
    "log-missing",
    "wrong",
    "Changes are missing from {file}, because its -wal file is missing. The last change in the file is from "
    "{found}, but platform.db recorded a change at {noted}.",
    (
        "Stop the original server and copy its whole data folder again, or run wmsd backup create on its "
        "machine and use that backup here. Without another copy, the changes in the -wal file are lost."
    ),
)
LOG_ALONE: Final = FindingKind(
    "log-alone",
    "wrong",
    "The write-ahead log {file} exists, but its database file is missing.",
    "Before you start a server here, put back the database file that this -wal file belongs to. The "
    "-wal file works with no other database file.",
)
LOG_LARGE: Final = FindingKind(
    "log-large",
    "warning",
    "The write-ahead log {file} is large ({megabytes} MB), because its changes are not written back into the "
    "database file.",
    "Read the server's log, and fix the cause: a failing disk, or a replica or command that reads for a long "
    "time. Then restart the server, which writes the changes into the database file.",
)
KINDS: Final = (LOG_MISSING, LOG_ALONE, LOG_LARGE)


def findings(at: Situation) -> Found:
    yield from _lost(at)
    for folder, names in ((at.data, "platform.db-wal"), (at.folder.companies, "*.db-wal")):
        for log in sorted(folder.glob(names)):
            file = log.with_name(log.name.removesuffix("-wal"))
            size = log_bytes(file)
            if size and not file.exists():
                yield LOG_ALONE.of(log)
            elif size > LARGEST_LOG:
                yield LOG_LARGE.of(log, megabytes=size // 1_000_000)


def _lost(at: Situation) -> Found:
    """Find database files that lack changes because their write-ahead log is missing.

    If a server is running, return nothing, because the server may be writing the logs. The examination of each
    file also finds missing changes.
    """
    for path in at.files if at.server is None else ():
        noted = None if has_log(path) else at.marks.get(at.company_of(path) or 0)
        found = None if noted is None else mark_of(path)
        if noted is not None and found is not None and found.last_change < noted.last_change:
            yield LOG_MISSING.of(
                path,
                found=timestamps.from_microseconds(found.last_change),
                noted=timestamps.from_microseconds(noted.last_change),
            )
