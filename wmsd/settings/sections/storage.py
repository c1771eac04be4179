"""What is kept on the disk, and its copies."""

from datetime import time
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from wmsd.base.machine.memory import machine_memory
from wmsd.base.schedule import Keep
from wmsd.contract.secret_fields import OfPath, Secret, SecretFile
from wmsd.settings.sections.fields import MEGABYTE, Kept, ReadEachTime, Section, check_time_of_day

LEAST_MEMORY: Final = 32 * MEGABYTE
MOST_MEMORY: Final = 1024 * MEGABYTE


class Storage(Section):
    """How much companies may store, and how many of their files stay open."""

    quota_megabytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000_000,
            description="Largest file of a company that has no quota of its own; 0: as the disk allows.",
        ),
    ] = 0
    memory_megabytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="Memory for the companies' open files and their caches: it decides how many stay open; "
            "0: an eighth of the machine's, from 32 to 1 024.",
        ),
    ] = 0

    @property
    def memory(self) -> int:
        """The memory in bytes."""
        own = min(max(machine_memory() // 8, LEAST_MEMORY), MOST_MEMORY)
        return self.memory_megabytes * MEGABYTE or own


class Requests(Section):
    """The last requests of each company, which the pages show to those who connect to it."""

    keep: Annotated[bool, Field(description="Keep them, with their bodies. Secrets in them are never kept.")] = (
        True
    )
    megabytes: Annotated[
        int, Field(ge=1, le=100_000, description="How large their files may be, those of all companies together.")
    ] = 50
    days: Annotated[int, Field(ge=1, le=365, description="How many days they are kept.")] = 7


class Imports(Section):
    """Files that people upload at the pages."""

    megabytes: Annotated[int, Field(ge=1, le=2000, description="How large an uploaded file may be.")] = 100


class Backup(Section):
    """Backups, their schedule, and which are kept."""

    folder: Annotated[
        str,
        Field(
            min_length=1,
            description="The folder for them: best on another disk than the data. Default: beside the data "
            "folder, with its name and -backups.",
        ),
        OfPath,
    ] = "data-backups"
    every: Annotated[
        Literal["never", "hour", "day"], Field(description="How often the server makes one: never, hour or day.")
    ] = "day"
    at: Annotated[
        str,
        AfterValidator(check_time_of_day),
        Field(description="When the day's backup is made, and the newest one proven: HH:MM, by the box's clock."),
    ] = "02:30"
    keep_hourly: Annotated[Kept, Field(description="Of how many hours the last backup is kept."), ReadEachTime] = (
        24
    )
    keep_daily: Annotated[Kept, Field(description="Of how many days."), ReadEachTime] = 7
    keep_weekly: Annotated[Kept, Field(description="Of how many weeks."), ReadEachTime] = 4
    passphrase_file: Annotated[
        str,
        Field(description="A file with a passphrase for the keys; empty: they are sealed to the recovery phrase."),
        ReadEachTime,
        SecretFile,
        OfPath,
    ] = ""
    after: Annotated[
        str,
        Field(description="A command to run after each, such as a copy to elsewhere; $ARCHIVE is its path."),
        ReadEachTime,
        Secret,
    ] = ""

    @property
    def time(self) -> time:
        """`at`."""
        return time.fromisoformat(self.at)

    @property
    def keep(self) -> Keep:
        return Keep(self.keep_hourly, self.keep_daily, self.keep_weekly)


class Replica(Section):
    """Continuous replication, by a Litestream that runs beside the server."""

    enabled: Annotated[
        bool,
        Field(description="Whether it runs: the server's files are then open to other programs of this machine."),
    ] = False
