"""The health check: database, cache, job queue, disk (specification section 4), webhooks, clock, backup,
replica, moves.
"""

import asyncio
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.base.machine.disk import Level, disk_of
from wmsd.contract.access import has_role
from wmsd.contract.context import Caller
from wmsd.data_folder.clock_verdict import WrongClock, tokens_of
from wmsd.data_folder.clock_verdict import wrong_clock as judged
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.dispatch.freezes import LONG, age
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import Seen
from wmsd.maintenance.keys.key_protection import protection
from wmsd.maintenance.keys.key_protection import read_known_keys as read_keys
from wmsd.server.jobs import Jobs
from wmsd.tenants.companies import store as companies
from wmsd.tenants.recovery import store as recovery

SLOWEST_TICK_SECONDS = 30.0
MOST_NAMED: Final = 100


async def check_health(
    installation: Installation, jobs: Jobs, is_known: bool, caller: Caller | None = None
) -> tuple[int, dict[str, Any]]:
    """The HTTP status, 200 or 503, and the result of each check. It tells no path and no version.

    `is_known`: whether the caller has a valid token. To a stranger, free bytes would tell how an attack goes. A
    `caller` who is a platform admin is also told which companies cannot be used or written, by code.
    """
    seen = None if jobs.backups is None else await jobs.backups.seen()
    checks = {
        "database": await _database(installation, is_known, caller),
        "cache": {"ok": True, "entries": installation.access.entries},
        "job_queue": _job_queue(jobs),
        "disk": _disk(installation, is_known),
        "webhooks": _webhooks(jobs),
        "clock": await _clock(installation, jobs, is_known),
        "backup": _backup(seen, is_known),
        "keys": await _keys(installation, seen, is_known),
    }
    if not_settled := await _open_recovery(installation):
        checks["recovery"] = {"ok": False, "degraded": True, **({"open": not_settled} if is_known else {})}
    if installation.settings.replica.enabled:
        checks["replica"] = await asyncio.to_thread(_replica, installation, is_known)
    if frozen := await _frozen(installation):
        checks["moves"] = _moves(installation, frozen, is_known)
    broken = [name for name, found in checks.items() if not found["ok"] and not found.get("degraded")]
    degraded = [name for name, found in checks.items() if found.get("degraded")]
    status = "unavailable" if broken else "degraded" if degraded else "ok"
    return (503 if broken else 200), {"status": status, "checks": checks}


async def _database(installation: Installation, is_known: bool, caller: Caller | None) -> dict[str, Any]:
    started = installation.clock.monotonic()
    try:
        await installation.platform.read(companies.count)
    except STORAGE_FAILURES:
        return {"ok": False, "milliseconds": _since(installation, started)}
    files, platform = installation.files, installation.platform.writes
    unavailable, read_only = files.troubled.keys(), files.read_only
    is_good = not unavailable and not read_only and platform.failure is None
    found: dict[str, Any] = {"ok": is_good, "milliseconds": _since(installation, started)}
    if not is_good:
        found["degraded"] = True
    if files.unprepared:
        found["companies_unprepared"] = files.unprepared
    if unavailable:
        found["companies_unavailable"] = len(unavailable)
    if not_written := len(read_only) + (platform.failure is not None):
        found["files_that_cannot_be_written"] = not_written
    if is_known:
        last = platform.moments, files.last_writes
        found["last_write"] = _latest(each.succeeded_at for each in last)
        found["last_failed_write"] = _latest(each.failed_at for each in last)
    named = {"unavailable": unavailable, "read_only": read_only - unavailable}
    return found | await _named(installation, named, caller)


async def _named(
    installation: Installation, found: Mapping[str, AbstractSet[int]], caller: Caller | None
) -> dict[str, list[str]]:
    """The codes of the companies, for a platform admin who may use them."""
    if caller is None or not has_role(caller.role, "platform-admin") or not any(found.values()):
        return {}
    known = await installation.access.companies()
    return {
        name: sorted(known[each].code for each in ids if each in known and caller.may_use(each))[:MOST_NAMED]
        for name, ids in found.items()
        if ids
    }


def _latest(moments: Iterable[datetime | None]) -> str | None:
    known = [moment for moment in moments if moment is not None]
    return timestamps.to_text(max(known)) if known else None


async def _open_recovery(installation: Installation) -> int:
    """How many entries of the list of the day after are open."""
    try:
        return await installation.platform.read(recovery.open_count)
    except STORAGE_FAILURES:
        return 0  # the check of the database tells it


def _job_queue(jobs: Jobs) -> dict[str, Any]:
    seconds = jobs.seconds_since_tick
    return {"ok": seconds < SLOWEST_TICK_SECONDS, "seconds_since_tick": round(seconds, 3)}


def _webhooks(jobs: Jobs) -> dict[str, Any]:
    off = jobs.sender.switched_off
    return {"ok": False, "degraded": True, "switched_off": off} if off else {"ok": True}


async def wrong_clock(installation: Installation, jobs: Jobs) -> WrongClock | None:
    """None too where `platform.db` cannot be read, which another check tells."""
    known, now = jobs.clock_watch.known, installation.clock.now()
    try:
        tokens = await installation.platform.read(lambda tx: tokens_of(tx, known, now))
    except STORAGE_FAILURES:
        return None
    return judged(known, tokens, now)


async def _clock(installation: Installation, jobs: Jobs, is_known: bool) -> dict[str, Any]:
    """What is ahead of a clock that is right is told, and no trouble: it ends by itself."""
    watch, found = jobs.clock_watch, dict[str, Any](ok=True)
    if watch.doubted_since is not None:
        is_wrong = watch.was_set or await wrong_clock(installation, jobs) is not None
        found = {"ok": not is_wrong, "doubted_since": timestamps.to_text(watch.doubted_since)}
    if not found["ok"]:
        found["degraded"] = True
    if is_known and (ahead := installation.marks.ahead()):
        found |= {"companies_ahead": len(ahead), "ahead_until": max(ahead.values())}
    return found


def _backup(seen: Seen | None, is_known: bool) -> dict[str, Any]:
    if seen is None:
        return {"ok": True}
    found: dict[str, Any] = {"ok": seen.verdict.ok}
    if not found["ok"]:
        found["degraded"] = True
    if is_known:
        made, proven = seen.made, seen.proven
        found["made_at"] = None if made is None else made.at
        found["proven_at"] = None if proven is None or proven.problems else proven.at
    return found


async def _frozen(installation: Installation) -> dict[str, str]:
    """Since when companies are frozen, by code. Empty where that cannot be read, as the check of files tells."""
    try:
        known = await installation.access.companies()
    except STORAGE_FAILURES:
        return {}
    return {each.code: each.frozen_at for each in known.values() if each.frozen_at is not None}


def _moves(installation: Installation, frozen: Mapping[str, str], is_known: bool) -> dict[str, Any]:
    """A freeze is meant, until it is so old that it was perhaps forgotten."""
    oldest = min(frozen.values())
    found: dict[str, Any] = {"ok": age(oldest, installation.clock.now()) < LONG}
    if not found["ok"]:
        found["degraded"] = True
    if is_known:
        found |= {"companies_frozen": len(frozen), "frozen_since": oldest}
    return found


async def _keys(installation: Installation, seen: Seen | None, is_known: bool) -> dict[str, Any]:
    """Whether the keys outlive this box. To a stranger it is told only that they do not."""
    try:
        known = await installation.platform.read(read_keys)
    except STORAGE_FAILURES:
        return {"ok": True}  # which the check of the database tells
    found = protection(known, installation.settings.backup, seen is not None and seen.made is not None)
    shown: dict[str, Any] = {"ok": not found.is_wrong}
    if found.is_wrong:
        shown["degraded"] = True
    if is_known:
        shown["state"] = found.state
        if found.sentence:
            shown |= {"tokens": known.tokens, "credentials": known.credentials}
    return shown


def _replica(installation: Installation, is_known: bool) -> dict[str, Any]:
    from wmsd.maintenance.replica.replica_verdict import replica_verdict as verdict_of_replica

    judged = verdict_of_replica(installation.folder)
    found: dict[str, Any] = {"ok": judged.ok}
    if not judged.ok:
        found["degraded"] = True
    if is_known:
        found["files_behind"] = len(judged.behind)
    return found


def _disk(installation: Installation, is_known: bool) -> dict[str, Any]:
    disk = disk_of(installation.folder.path)
    found: dict[str, Any] = {"ok": disk.level is Level.GOOD}
    if disk.level is Level.WARNED:
        found["degraded"] = True
    if is_known:
        found |= {"free_bytes": disk.free, "free_percent": disk.percent}
    return found


def _since(installation: Installation, started: float) -> float:
    return round((installation.clock.monotonic() - started) * 1000, 3)
