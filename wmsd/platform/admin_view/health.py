"""The metrics of the installation, the details of its checks, the last examination, and progress of work.

Call these functions on a thread, because most of them read the disk.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from wmsd import __version__
from wmsd.base import timestamps
from wmsd.base.machine.disk import MEBIBYTE, Level, disk_of
from wmsd.base.machine.memory import resident_memory
from wmsd.contract.context import Company
from wmsd.data_folder import clock_watch
from wmsd.db.engine.sqlite import file_bytes
from wmsd.dispatch.freezes import freeze_sentence
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.last_runs import read_record
from wmsd.maintenance.backups.scheduled_process import Seen
from wmsd.platform.admin_view.findings_file import Examination
from wmsd.platform.admin_view.schema import Progress
from wmsd.platform.admin_view.service import OversightService
from wmsd.server.alerts.alerts import ALERT_SECONDS
from wmsd.server.alerts.kinds import alert_sentence
from wmsd.server.jobs import Jobs

MOST_NAMED: Final = 5
MOST_BEHIND: Final = 20


def progress_of(line: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the progress of an examination or a backup as JSON. `line` is the last line that its process has
    reported. Return None if there is no report yet.
    """
    try:
        return Progress.model_validate({"doing": "examining", **line}).model_dump()
    except ValidationError:
        return None


def moves(installation: Installation, companies: Mapping[int, Company]) -> dict[str, str]:
    """Return the detail of the check `moves`: which companies are frozen, and since when."""
    now = installation.clock.now()
    frozen = [
        freeze_sentence(each.code, each.frozen_at, now)
        for each in companies.values()
        if each.frozen_at is not None
    ]
    return {"moves": f"Frozen: {', '.join(frozen[:MOST_NAMED])}."} if frozen else {}


def failed(installation: Installation, companies: Mapping[int, Company]) -> dict[str, str]:
    """Return the detail of the check `database`: which files cannot be used or written, and why.

    Call this function on the thread of the event loop.
    """
    named = [
        f"{companies[each].code if each in companies else each}: {reason}"
        for each, reason in list(installation.files.troubled.items())[:MOST_NAMED]
    ]
    read_only = sorted(installation.files.read_only)
    named += [
        f"{companies[each].code}: its file cannot be written now."
        for each in read_only[:MOST_NAMED]
        if each in companies and each not in installation.files.troubled
    ]
    return {"database": " ".join(named)} if named else {}


def details(installation: Installation, jobs: Jobs, seen: Seen | None) -> dict[str, str]:
    """Return the details of the checks `clock`, `disk`, `backup` and `replica`, by check. Leave out checks without
    a detail.
    """
    found = {
        "clock": _clock(installation, jobs),
        "disk": _disk(installation),
        "backup": None if seen is None else seen.verdict.text,
        "replica": of_replica(installation)[1] if installation.settings.replica.enabled else None,
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def _clock(installation: Installation, jobs: Jobs) -> str | None:
    known = jobs.clock_watch.known
    if known.doubted_since is None:
        return _ahead(installation)
    return _sentence(clock_watch.sentence(known.doubted_since, known.step))


def _ahead(installation: Installation) -> str | None:
    found = installation.marks.ahead()
    if not found:
        return None
    codes = ", ".join(map(installation.files.code_of, sorted(found)[:MOST_NAMED]))
    until = max(found.values())
    return (
        f"Because the clock was wrong, the last changes of {codes} have times in the future, up to {until}. "
        "You need not do anything: new changes keep the right order."
    )


def _disk(installation: Installation) -> str | None:
    disk = disk_of(installation.folder.path)
    if disk.level is Level.GOOD:
        return None
    free, refused_below = disk.free // MEBIBYTE, disk.refused_below // MEBIBYTE
    return f"{free} MiB are free ({disk.percent} %). Below {refused_below} MiB, wmsd stores no new data."


def of_replica(installation: Installation) -> tuple[bool, str]:
    """Return whether the replica is complete, and a sentence about it. Call this function only if replication is
    on.
    """
    from wmsd.maintenance.replica.replica_verdict import replica_verdict as verdict_of_replica

    judged = verdict_of_replica(installation.folder)
    if not judged.behind:
        return judged.ok, _sentence(judged.sentence)
    return judged.ok, _behind([_of_file(installation, name) for name in judged.behind])


def _behind(names: list[str]) -> str:
    named, more = ", ".join(names[:MOST_BEHIND]), len(names) - MOST_BEHIND
    if more > 0:
        return f"The replica does not have the latest changes of {named} and {more} more."
    return f"The replica does not have the latest changes of {named}."


def _of_file(installation: Installation, name: str) -> str:
    """Return the code of the company that owns the database file `name`. For `platform.db`, return `name`."""
    stem = Path(name).stem
    return installation.files.code_of(int(stem)) if stem.isdecimal() else name


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def alerts(jobs: Jobs) -> dict[str, Any]:
    """Return the open alerts, and the channels over which wmsd sends alerts to people, as JSON."""
    kept = jobs.alerts.kept
    shown = [
        {
            **each.model_dump(include={"kind", "subject", "facts", "begun_at", "gone_at"}),
            "sentence": alert_sentence(each.kind, each.subject, each.facts),
        }
        for each in kept.open
    ]
    ways = []
    for name in jobs.alerts.ways:
        failure = kept.failures.get(name)
        ways.append(
            {
                "name": name,
                "waiting": len(kept.waiting_of(name)),
                "failing_since": None if failure is None else failure.since,
                "error": None if failure is None else failure.error,
            }
        )
    at = jobs.alerts.looked_at
    return {
        "looked_at": None if at is None else timestamps.to_text(at),
        "every_seconds": round(ALERT_SECONDS),
        "open": shown,
        "ways": ways,
    }


def figures(service: OversightService, companies: int) -> dict[str, Any]:
    installation = service.installation
    folder, clock = installation.folder, installation.clock
    usage = shutil.disk_usage(folder.path)
    return {
        "version": __version__,
        "started_at": timestamps.to_text(service.started_at),
        "up_seconds": int(clock.monotonic() - service.began),
        "memory_bytes": resident_memory(),
        "companies": companies,
        "open_companies": len(installation.files.open),
        "data_bytes": sum(map(file_bytes, [folder.platform_file, *folder.companies.glob("*.db*")])),
        "free_bytes": usage.free,
        "disk_bytes": usage.total,
    }


async def last_examination(service: OversightService) -> Examination | None:
    examinations = service.started.examinations
    return None if examinations is None else await examinations.last()


def examination(service: OversightService, last: Examination | None) -> dict[str, Any]:
    """Return the state of examinations. Call this function on a thread, because it reads the disk."""
    examinations = service.started.examinations
    proven = read_record(service.installation.folder.path).proven
    proof = None
    if proven is not None:
        proof = {"at": proven.at, "archive": Path(proven.path).name, "problems": proven.problems}
    is_running = examinations is not None and examinations.is_running
    return {
        "can_begin": examinations is not None,
        "is_running": is_running,
        "progress": progress_of(examinations.progress) if examinations is not None and is_running else None,
        "found_so_far": len(examinations.found.findings) if examinations is not None and is_running else 0,
        "last": None if last is None else last.model_dump(),
        "is_wrong": last is not None and last.is_wrong,
        "proof": proof,
    }
