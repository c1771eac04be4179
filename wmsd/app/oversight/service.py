"""What the operations of oversight need of the running server."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from wmsd.app.backups.running import ScheduledBackups
from wmsd.app.installation import Installation
from wmsd.app.jobs import Jobs
from wmsd.app.oversight.examining import Examinations
from wmsd.app.settings import Layer
from wmsd.app.typed_commands import NOTHING_ADDED, Complete
from wmsd.base.context import Caller, FromAddress
from wmsd.base.dataclass import dataclass
from wmsd.base.operation import operation
from wmsd.companies import store as companies

for_platform_admins = partial(operation, tag="Administration", scope="installation", role="platform-admin")


@dataclass(frozen=True, slots=True)
class Started:
    """What a server has that was started as a program of its own: long work beside it, and where its settings come
    from.
    """

    backups: ScheduledBackups | None = None
    examinations: Examinations | None = None
    layers: Sequence[Layer] = ()
    config_file: Path | None = None
    complete: Complete = NOTHING_ADDED
    """For whoever types a command on the machine of the server, in any folder."""


@dataclass(frozen=True, slots=True)
class OversightService:
    installation: Installation
    jobs: Jobs
    started: Started
    started_at: datetime
    began: float
    """On the monotonic clock."""

    async def audit(self, caller: Caller, call: FromAddress, action: str, subject: str) -> None:
        actor = replace(caller.actor, address=call.address)
        await self.installation.platform.write(
            lambda tx: companies.audit(tx, action, subject), actor, is_quiet=True
        )
