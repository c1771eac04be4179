"""The health check: database, cache, job queue and disk (specification section 4), and further checks.

The further checks are webhooks, clock, backup, keys, recovery, replica and moves.
"""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Final, TypeVar

from wmsd.base import timestamps
from wmsd.base.machine.disk import Level, disk_of
from wmsd.contract.access import has_role
from wmsd.contract.context import Caller
from wmsd.data_folder import clock_verdict
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.freezes import LONG, age
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import Seen
from wmsd.maintenance.keys.key_protection import protection, read_known_keys
from wmsd.server.alerts.conditions import verdict_of_replica
from wmsd.server.jobs import Jobs
from wmsd.tenants.companies import store as companies
from wmsd.tenants.recovery import store as recovery

Result = TypeVar("Result")
SLOWEST_TICK_SECONDS = 30.0
MOST_NAMED: Final = 100
PUBLIC: Final = (
    *("ok", "degraded", "milliseconds", "entries", "seconds_since_tick", "free_percent"),
    *("switched_off", "doubted_since"),
    *("companies_unprepared", "companies_unavailable", "files_that_cannot_be_written"),
)
"""The keys of a check's result that callers without a valid token see. The number of free bytes is not one of
them, because it would show attackers whether an attack works. A whole percentage shows little.
"""


async def check_health(
    installation: Installation, jobs: Jobs, is_known: bool, caller: Caller | None = None
) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status, 200 or 503, and the result of each check. The results contain no paths and no
    versions.

    `is_known` means that the caller has a valid token. If `caller` is a platform admin, the result also has the
    codes of companies whose files cannot be used or written.
    """
    seen = None if jobs.backups is None else await jobs.backups.seen()
    checks = {
        "database": await _database(installation, caller),
        "cache": {"ok": True, "entries": installation.access.entries},
        "job_queue": _job_queue(installation, jobs),
        "disk": _disk(installation),
        "webhooks": _webhooks(jobs),
        "clock": await _clock(installation, jobs),
        "backup": _backup(seen),
        "keys": await _keys(installation, seen),
    }
    if not_settled := await read_platform(installation, recovery.open_count):
        checks["recovery"] = _judged(False, open=not_settled)
    if (replica := await verdict_of_replica(installation)) is not None:
        checks["replica"] = _judged(replica.ok, files_behind=len(replica.behind))
    if frozen := await _frozen(installation):
        checks["moves"] = _moves(installation, frozen)
    broken = [name for name, found in checks.items() if not found["ok"] and not found.get("degraded")]
    degraded = [name for name, found in checks.items() if found.get("degraded")]
    status = "unavailable" if broken else "degraded" if degraded else "ok"
    results = {
        name: {key: value for key, value in found.items() if is_known or key in PUBLIC}
        for name, found in checks.items()
    }
    return (503 if broken else 200), {"status": status, "checks": results}


def _judged(is_good: bool, **facts: Any) -> dict[str, Any]:
    """Return the result of a check. If `is_good` is False, the result says that the service is degraded, which
    means that it still works.
    """
    return {"ok": is_good, **({} if is_good else {"degraded": True}), **facts}


async def read_platform(installation: Installation, read: Callable[[Transaction], Result]) -> Result | None:
    """Return the result of `read` in `platform.db`, or None if the file cannot be read. The database check also
    reports such a file.
    """
    try:
        return await installation.platform.read(read)
    except STORAGE_FAILURES:
        return None


async def _database(installation: Installation, caller: Caller | None) -> dict[str, Any]:
    started = installation.clock.monotonic()
    if await read_platform(installation, companies.count) is None:
        return {"ok": False, "milliseconds": _since(installation, started)}
    files, platform = installation.files, installation.platform.writes
    unavailable, read_only = files.troubled.keys(), files.read_only
    is_good = not unavailable and not read_only and platform.failure is None
    found: dict[str, Any] = {"ok": is_good, "milliseconds": _since(installation, started)}
    if not is_good:
        found["degraded"] = True
    counts = {
        "companies_unprepared": files.unprepared,
        "companies_unavailable": len(unavailable),
        "files_that_cannot_be_written": len(read_only) + (platform.failure is not None),
    }
    last = platform.moments, files.last_writes
    return {
        **found,
        **{name: number for name, number in counts.items() if number},
        "last_write": _latest(each.succeeded_at for each in last),
        "last_failed_write": _latest(each.failed_at for each in last),
        **await _named(installation, {"unavailable": unavailable, "read_only": read_only - unavailable}, caller),
    }


async def _named(
    installation: Installation, found: Mapping[str, AbstractSet[int]], caller: Caller | None
) -> dict[str, list[str]]:
    """Return `found` with company codes in place of company ids. Leave out companies that the caller may not use.
    If the caller is not a platform admin, return an empty dict.
    """
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


def _job_queue(installation: Installation, jobs: Jobs) -> dict[str, Any]:
    seconds = installation.clock.monotonic() - jobs.last_tick
    return {"ok": seconds < SLOWEST_TICK_SECONDS, "seconds_since_tick": round(seconds, 3)}


def _webhooks(jobs: Jobs) -> dict[str, Any]:
    off = jobs.sender.switched_off
    return _judged(False, switched_off=off) if off else _judged(True)


async def wrong_clock(installation: Installation, jobs: Jobs) -> clock_verdict.WrongClock | None:
    """Return the evidence that the clock is wrong. Return None if there is no evidence, or if `platform.db` cannot
    be read.
    """
    known, now = jobs.clock_watch.known, installation.clock.now()
    expired = await read_platform(installation, lambda tx: clock_verdict.expired_tokens(tx, known, now))
    return None if expired is None else clock_verdict.wrong_clock(known, expired, now)


async def _clock(installation: Installation, jobs: Jobs) -> dict[str, Any]:
    """Return the result of the clock check.

    The result also reports companies whose last change is in the future. This does not count as a failure, because
    the clock will later pass the time of that change.
    """
    known, found = jobs.clock_watch.known, dict[str, Any](ok=True)
    if known.doubted_since is not None:
        is_wrong = known.step is not None or await wrong_clock(installation, jobs) is not None
        found = {"ok": not is_wrong, "doubted_since": timestamps.to_text(known.doubted_since)}
    if not found["ok"]:
        found["degraded"] = True
    if ahead := installation.marks.ahead():
        found |= {"companies_ahead": len(ahead), "ahead_until": max(ahead.values())}
    return found


def _backup(seen: Seen | None) -> dict[str, Any]:
    if seen is None:
        return _judged(True)
    made, proven = seen.made, seen.proven
    return _judged(
        seen.verdict.ok,
        made_at=None if made is None else made.at,
        proven_at=None if proven is None or proven.problems else proven.at,
    )


async def _frozen(installation: Installation) -> dict[str, str]:
    """Return for each frozen company the time at which it was frozen, by company code.

    Return an empty dict if `platform.db` cannot be read. Another check reports this error.
    """
    try:
        known = await installation.access.companies()
    except STORAGE_FAILURES:
        return {}
    return {each.code: each.frozen_at for each in known.values() if each.frozen_at is not None}


def _moves(installation: Installation, frozen: Mapping[str, str]) -> dict[str, Any]:
    """Check whether a company has been frozen for too long, and return the result. The reason may be that an admin
    has forgotten the freeze.
    """
    oldest = min(frozen.values())
    is_meant = age(oldest, installation.clock.now()) < LONG
    return _judged(is_meant, companies_frozen=len(frozen), frozen_since=oldest)


async def _keys(installation: Installation, seen: Seen | None) -> dict[str, Any]:
    """Check whether the keys of the installation survive the loss of this machine, and return the result. `seen`
    is the state of the backups.
    """
    known = await read_platform(installation, read_known_keys)
    if known is None:
        return _judged(True)
    found = protection(known, installation.settings.backup, seen is not None and seen.made is not None)
    at_stake = {"tokens": known.tokens, "credentials": known.credentials} if found.sentence else {}
    return _judged(not found.is_wrong, state=found.state, **at_stake)


def _disk(installation: Installation) -> dict[str, Any]:
    disk = disk_of(installation.folder.path)
    facts = {"free_bytes": disk.free, "free_percent": disk.percent}
    return {"ok": False, **facts} if disk.level is Level.REFUSED else _judged(disk.level is Level.GOOD, **facts)


def _since(installation: Installation, started: float) -> float:
    return round((installation.clock.monotonic() - started) * 1000, 3)
