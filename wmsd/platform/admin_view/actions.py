"""The operations with which platform admins watch the installation and start work in it, such as a backup."""

import asyncio
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.base.problems import Problem
from wmsd.contract.context import Caller, FromAddress
from wmsd.contract.operation import operation
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.platform.admin_view import backups, settings
from wmsd.platform.admin_view import health as house
from wmsd.platform.admin_view.examination_runs import Examinations
from wmsd.platform.admin_view.schema import (
    InstallationBackups,
    InstallationHealth,
    JobShown,
    JobsShown,
    LastExamination,
    SettingsShown,
)
from wmsd.platform.admin_view.service import OversightService
from wmsd.server.health import check_health
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.record_lists import for_platform_admins
from wmsd.tenants.companies.schema import Message

CANNOT: Final = "This server cannot start other programs. Use the command line: {}."
UNDER_WAY: Final = "This task is already running. Wait until it ends."


@for_platform_admins(answer="object", returns=InstallationHealth)
async def get_installation_health(service: OversightService) -> dict[str, Any]:
    """Get the health of the installation.

    The answer has each health check, the open alerts, the metrics of the installation, and the last examination by
    doctor.
    """
    installation, jobs = service.installation, service.jobs
    _, found = await check_health(installation, jobs, is_known=True)
    known = await installation.access.companies()
    failed = house.failed(installation, known) | house.moves(installation, known)
    seen = None if jobs.backups is None else await jobs.backups.seen()
    details = failed | await asyncio.to_thread(house.details, installation, jobs, seen)
    figures = await asyncio.to_thread(house.figures, service, len(known))
    checks = [
        {
            "name": name,
            "ok": check["ok"],
            "detail": details.get(name),
            "figures": {key: value for key, value in check.items() if key not in ("ok", "degraded")},
        }
        for name, check in found["checks"].items()
    ]
    return {
        "status": found["status"],
        "checks": checks,
        "alerts": house.alerts(jobs),
        "figures": figures,
        "examination": await asyncio.to_thread(house.examination, service, await house.last_examination(service)),
    }


@operation(tag="Administration", answer="object", returns=LastExamination, scope="platform")
async def get_last_examination(service: OversightService) -> dict[str, Any]:
    """Get the last examination's outcome.

    The answer says whether doctor has found an error.
    """
    last = await house.last_examination(service)
    return {
        "is_wrong": last is not None and last.is_wrong,
        "began_at": None if last is None else last.began_at,
    }


@for_platform_admins(answer="object", returns=Message, codes=("INVALID_STATUS",))
async def begin_examination(service: OversightService, caller: Caller, call: FromAddress) -> dict[str, Any]:
    """Start an examination by doctor.

    A separate process examines every file while the server runs.
    """
    _begin(service.started.examinations, "wmsd doctor")
    await service.audit(caller, call, "examination.begin", "doctor")
    return {"message": "The examination was started."}


def _begin(work: Examinations | ScheduledBackups | None, command: str) -> None:
    """Start `work` in a separate process.

    Raise Problem (409) if the work is already running. If `work` is None, this server cannot start the work: raise
    Problem (409) with the advice to run `command`.
    """
    if work is None:
        raise Problem("INVALID_STATUS", CANNOT.format(command))
    if not work.begin():
        raise Problem("INVALID_STATUS", UNDER_WAY)


@for_platform_admins(answer="object", returns=InstallationBackups)
async def get_installation_backups(service: OversightService) -> dict[str, Any]:
    """List the backups.

    The answer says for each backup whether it is verified, and when the next backup is created.
    """
    own = await service.installation.platform.read(companies.installation)
    return await asyncio.to_thread(backups.backups_as_json, service, own)


@for_platform_admins(answer="object", returns=Message, codes=("INVALID_STATUS",))
async def begin_backup(service: OversightService, caller: Caller, call: FromAddress) -> dict[str, Any]:
    """Create a backup now.

    A separate process creates and verifies the backup while the server runs.
    """
    _begin(service.started.backups, "wmsd backup create")
    await service.audit(caller, call, "backup.begin", "now")
    return {"message": "The backup was started."}


@for_platform_admins(answer="object", returns=JobsShown)
async def list_jobs(service: OversightService) -> dict[str, Any]:
    """List the jobs of the server.

    The answer has the jobs that the server runs automatically, with the outcome of the last run of each.
    """
    log = service.jobs.log
    shown = [
        JobShown(
            name=name.lstrip("_"),
            title=job.title,
            says=job.says,
            every_seconds=job.every,
            is_running=job.is_running,
            began_at=None if job.began_at is None else timestamps.to_text(job.began_at),
            seconds=None if job.seconds is None else round(job.seconds, 3),
            runs=job.runs,
            failures=job.failures,
            error=job.error,
            failed_at=None if job.failed_at is None else timestamps.to_text(job.failed_at),
            next_in_seconds=round(log.seconds_until(job), 1),
        ).model_dump()
        for name, job in log.jobs.items()
    ]
    return {"data": shown}


@for_platform_admins(answer="object", returns=SettingsShown)
async def list_settings(service: OversightService) -> dict[str, Any]:
    """List the settings in force.

    Each setting has its source. Secrets are not shown.
    """
    return settings.settings_as_json(service.installation.settings, service.started.layers)
