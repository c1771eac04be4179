"""Reads the metrics of the running server. It uses cached figures, and opens no company's file."""

import asyncio
import resource
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wmsd import __version__
from wmsd.base import timestamps
from wmsd.base.machine.memory import resident_memory
from wmsd.contract.context import Company
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.sqlite import log_bytes
from wmsd.dispatch.request_measures import quantile
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import Seen
from wmsd.server.alerts.conditions import verdict_of_replica
from wmsd.server.figures.loop_lag import LoopLag
from wmsd.server.figures.schema import (
    BackupFigures,
    CompanyCounts,
    DeliveryFigures,
    DiskFigures,
    HeldCompany,
    LogFigures,
    LoopFigures,
    MinuteFigures,
    ProcessFigures,
    ReplicaFigures,
    ServerFigures,
    SurfaceFigures,
)
from wmsd.server.figures.top_costs import costs_now
from wmsd.server.health import read_platform, wrong_clock
from wmsd.server.jobs import Jobs
from wmsd.tenants.accounts import sessions
from wmsd.tenants.recovery import store as recovery

if TYPE_CHECKING:
    from wmsd.maintenance.replica.replica_verdict import Verdict


async def read_figures(
    installation: Installation, jobs: Jobs, pulse: LoopLag, started_at: datetime, began: float
) -> ServerFigures:
    """Read the metrics. `pulse` measures the event loop. `began` is the start of the server on the monotonic
    clock.
    """
    known = await installation.access.companies()
    seconds, answered = pulse.last_minute(asyncio.get_running_loop().time())
    open_files = {_code(known, int(each.path.stem)): each.path for each in installation.files.open}
    logs, process, disk = await asyncio.to_thread(_of_system, installation.folder, open_files)
    seen = None if jobs.backups is None else await jobs.backups.seen()
    replica = await verdict_of_replica(installation)
    return ServerFigures(
        version=__version__,
        started_at=timestamps.to_text(started_at),
        up_seconds=installation.clock.monotonic() - began,
        requests={
            name: SurfaceFigures(by_class=[*each.by_class], buckets=[*each.buckets], seconds=each.seconds)
            for name, each in installation.measures.surfaces.items()
        },
        last_minute=MinuteFigures(
            seconds=seconds,
            requests=sum(answered),
            p50_seconds=quantile(answered, 0.5),
            p99_seconds=quantile(answered, 0.99),
        ),
        loop=LoopFigures(lag_seconds=pulse.lag, most_lag_seconds=pulse.most_lag),
        companies=_companies(installation, known),
        deliveries=_deliveries(jobs, installation.clock.now()),
        logs=logs,
        process=process,
        backup=None if seen is None else _backup(seen, installation.clock.now()),
        replica=None if replica is None else _replica(replica),
        disk=disk,
        sessions=await read_platform(installation, sessions.number),
        event_streams=jobs.changes.streams,
        recovery_open=await read_platform(installation, recovery.open_count),
        costs=await costs_now(installation),
        jobs_failing=sum(each.error is not None for each in jobs.log.jobs.values()),
        clock_wrong=None if (clock := await wrong_clock(installation, jobs)) is None else clock.sentence,
    )


def _of_system(
    folder: DataFolder, open_files: dict[str, Path]
) -> tuple[LogFigures, ProcessFigures, DiskFigures | None]:
    """Return the metrics of the write-ahead logs, of the server process and of the disk. The disk is None if it
    cannot be read. `open_files` has the paths of the companies' open files, by company code.

    Call this function on a thread.
    """
    return _logs(open_files, folder.platform_file), _process(), _disk(folder.path)


def _deliveries(jobs: Jobs, now: datetime) -> DeliveryFigures:
    figures = list(jobs.today.known.values())
    oldest = min((each.oldest_waiting for each in figures if each.oldest_waiting is not None), default=None)
    return DeliveryFigures(
        waiting=sum(each.waiting for each in figures),
        without_credentials=sum(each.without_credentials for each in figures),
        oldest_seconds=None if oldest is None else _age(oldest, now),
        given_up=sum(each.given_up for each in figures),
        switched_off=jobs.sender.switched_off,
    )


def _code(known: dict[int, Company], company_id: int) -> str:
    return known[company_id].code if company_id in known else f"company {company_id}"


def _companies(installation: Installation, known: dict[int, Company]) -> CompanyCounts:
    files = installation.files
    return CompanyCounts(
        known=len(known),
        open=len(files.open),
        unavailable=_codes(known, files.troubled),
        read_only=_codes(known, files.read_only),
        frozen=[
            HeldCompany(code=each.code, since=each.frozen_at)
            for each in known.values()
            if each.frozen_at is not None
        ],
        suspended=[
            HeldCompany(code=each.code, since=each.suspended_at)
            for each in known.values()
            if each.suspended_at is not None
        ],
    )


def _codes(known: dict[int, Company], company_ids: Iterable[int]) -> list[str]:
    return [_code(known, each) for each in sorted(company_ids)]


def _logs(open_files: dict[str, Path], platform_file: Path) -> LogFigures:
    sizes = {name: log_bytes(path) for name, path in open_files.items()}
    sizes["platform"] = log_bytes(platform_file)
    largest = max(sizes, key=sizes.__getitem__)
    return LogFigures(
        bytes=sum(sizes.values()),
        largest_bytes=sizes[largest],
        largest_of=largest if sizes[largest] else None,
    )


def _process() -> ProcessFigures:
    used = resource.getrusage(resource.RUSAGE_SELF)
    open_files = None
    with suppress(OSError):
        open_files = sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1  # the listing opens a file too
    return ProcessFigures(
        memory_bytes=resident_memory(),
        cpu_seconds=used.ru_utime + used.ru_stime,
        open_files=open_files,
        most_open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    )


def _backup(seen: Seen, now: datetime) -> BackupFigures:
    made, proven = seen.made, seen.proven
    return BackupFigures(
        ok=seen.verdict.ok,
        sentence=seen.verdict.sentence,
        age_seconds=None if made is None else _age(made.at, now),
        proven_age_seconds=None if proven is None or proven.problems else _age(proven.at, now),
    )


def _replica(judged: "Verdict") -> ReplicaFigures:
    ages = [age for age in judged.behind.values() if age is not None]
    return ReplicaFigures(
        ok=judged.ok,
        sentence=judged.sentence,
        files_behind=len(judged.behind),
        behind_seconds=max(ages, default=None),
    )


def _disk(folder: Path) -> DiskFigures | None:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return DiskFigures(free_bytes=usage.free, all_bytes=usage.total)


def _age(moment: str, now: datetime) -> float:
    return max(0.0, (now - timestamps.from_text(moment)).total_seconds())
