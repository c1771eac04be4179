"""Findings about the clock and the time zone."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from wmsd.base import timestamps
from wmsd.base.machine.local_time_zone import machine_time_zone
from wmsd.contract.findings import FindingKind, Found
from wmsd.data_folder import clock_verdict, clock_watch
from wmsd.db.engine.high_water_mark import FAR_AHEAD, ahead
from wmsd.maintenance.doctor.situation import Situation

EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The earliest possible time. No version of wmsd is older."""
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)

YEAR_WRONG: Final = FindingKind(
    "clock-wrong",
    "wrong",
    "The clock of this machine says {now}, which is impossible.",
    "Set the clock, preferably by NTP (timedatectl set-ntp true). Until then, tokens and sessions "
    "are refused as expired, or stay valid too long.",
)
FROM_FUTURE: Final = FindingKind(
    "clock-behind",
    "warning",
    "{file} was last changed at {changed}, but the clock of this machine says {now}.",
    "Check whether the clock is right. If it is right, do nothing: the file was written while the clock was "
    "wrong, or on another machine.",
)
CHANGES_FROM_FUTURE: Final = FindingKind(
    "changes-ahead",
    "warning",
    "The last change of company {code} has the time {changed}, but the clock of this machine says {now}.",
    "Check whether the clock is right. If it is right, do nothing: it was wrong when the change was written, "
    "but no data is lost, and the order of changes stays correct.",
)
DOUBTED: Final = FindingKind(
    "clock-doubted",
    "warning",
    "{sentence}",
    "Check whether the clock is right. If it is right, run wmsd clock confirm.",
)
CLOCK_OFF: Final = FindingKind(
    "clock-off",
    "wrong",
    clock_verdict.SAYS,
    clock_verdict.REMEDY,
    words=(
        *(clock_verdict.SET, clock_verdict.BEHIND, clock_verdict.EXPIRED),
        *(clock_verdict.FORWARD, clock_verdict.BACK),
    ),
)
ZONE_UNKNOWN: Final = FindingKind(
    "time-zone-unknown",
    "warning",
    "The time zone of this machine is unknown, so pages and documents show UTC, and a day ends at midnight UTC.",
    "Set server.time_zone, for example to Europe/Bucharest, and restart the server.",
)
KINDS: Final = (ZONE_UNKNOWN, YEAR_WRONG, CLOCK_OFF, FROM_FUTURE, CHANGES_FROM_FUTURE, DOUBTED)


def findings_of_zone(at: Situation) -> Found:
    """Report a problem if the settings name no time zone and the time zone of the machine is unknown."""
    if not at.settings.server.time_zone and machine_time_zone() is None:
        yield ZONE_UNKNOWN.of()


def findings(at: Situation) -> Found:
    yield from findings_of_zone(at)
    now = timestamps.to_text(at.now)
    if not EARLIEST <= at.now < LATEST:
        yield YEAR_WRONG.of(now=now)
    elif at.wrong_clock is not None:
        yield CLOCK_OFF.of(**at.wrong_clock._asdict())
    for path in at.files:
        with suppress(OSError, ValueError, OverflowError):
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            if changed > at.now + FAR_AHEAD:
                yield FROM_FUTURE.of(path, changed=timestamps.to_text(changed), now=now)
    for company_id, changed_at in ahead(at.marks, at.now).items():
        code = (at.codes or {}).get(company_id, str(company_id))
        yield CHANGES_FROM_FUTURE.of(code=code, changed=changed_at, now=now)
    if at.clock is not None and at.clock.doubted_since is not None:
        sentence = clock_watch.sentence(at.clock.doubted_since, at.clock.step)
        yield DOUBTED.of(sentence=f"{sentence[0].upper()}{sentence[1:]}.")
