"""The parts of the running server that the operations of this package use."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from wmsd.base.dataclass import dataclass
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.contract.context import Caller, FromAddress
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.platform.admin_view.examination_runs import Examinations
from wmsd.server.jobs import Jobs
from wmsd.settings.paths import Layer
from wmsd.tenants.companies import store as companies


@dataclass(frozen=True, slots=True)
class Started:
    """The parts that only a server has: work in other processes, and the sources of settings."""

    backups: ScheduledBackups | None = None
    examinations: Examinations | None = None
    layers: Sequence[Layer] = ()
    config_file: Path | None = None
    complete: Complete = NOTHING_ADDED
    """A function that adds options to each command in a text. With these options, the command works with this
    installation from any folder of this machine.
    """


@dataclass(frozen=True, slots=True)
class OversightService:
    installation: Installation
    jobs: Jobs
    started: Started
    started_at: datetime
    began: float
    """The time when the server started, on the monotonic clock."""

    async def audit(self, caller: Caller, call: FromAddress, action: str, subject: str) -> None:
        actor = replace(caller.actor, address=call.address)
        await self.installation.platform.write(
            lambda tx: companies.write_audit(tx, action, subject), actor, is_quiet=True
        )
