"""The check whether the replica is complete. The result is a sentence."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from wmsd.base.plurals import count_of
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.litestream import ReplicatedFile, replicated_files
from wmsd.db.engine.failures import StorageError

LATE: Final = timedelta(seconds=15)
"""The delay after which a replica is reported as behind."""
MOST_NAMED: Final = 3


class Verdict(NamedTuple):
    ok: bool
    sentence: str
    behind: dict[str, float | None]
    """The files whose replication is late, with the seconds since the last replication. None means that the file
    was never replicated.
    """


def replica_verdict(folder: DataFolder, now: datetime | None = None) -> Verdict:
    """Return whether Litestream has replicated every database file of the folder in the last 15 seconds. `now` is
    the current time by default.
    """
    try:
        found = {each.path.name: each for each in replicated_files(folder.path)}
    except StorageError as error:
        return Verdict(False, str(error), {})
    files = [path.name for path in (folder.platform_file, *sorted(folder.companies.glob("*.db")))]
    return judged(files, found, now or datetime.now(UTC))


def judged(files: list[str], found: dict[str, ReplicatedFile], now: datetime) -> Verdict:
    ages = {name: _age(found.get(name), now) for name in files}
    behind = {name: age for name, age in ages.items() if age is None or age > LATE.total_seconds()}
    if not behind:
        most = max((age for age in ages.values() if age is not None), default=0.0)
        replicated = count_of(len(files), "file is replicated", "files are replicated")
        return Verdict(True, f"{replicated}, with a delay of at most {most:.0f} s", {})
    named = ", ".join(
        f"{name} {'is not replicated' if age is None else f'was last replicated {age:.0f} s ago'}"
        for name, age in list(behind.items())[:MOST_NAMED]
    )
    more = f", and {len(behind) - MOST_NAMED} more" if len(behind) > MOST_NAMED else ""
    return Verdict(False, f"{len(behind)} of {len(files)} files are not replicated in time: {named}{more}", behind)


def _age(file: ReplicatedFile | None, now: datetime) -> float | None:
    if file is None or file.last_sync_at is None or file.status != "replicating":
        return None
    return max(0.0, (now - file.last_sync_at).total_seconds())
