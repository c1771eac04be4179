"""[backup]: the folder and schedule of backups, and how many are kept."""

from datetime import time
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from wmsd.base.backup_schedule import Keep
from wmsd.contract.secret_fields import OfPath, Secret, SecretFile
from wmsd.settings.sections.fields import Kept, ReadEachTime, Section, check_time_of_day


class Backup(Section):
    """Backups: the schedule, and how many to keep."""

    folder: Annotated[
        str,
        Field(
            min_length=1,
            description=(
                "The folder for backups, best on another disk than the data. Default: the "
                "folder backups in the data folder, if this folder exists; otherwise a folder "
                "next to the data folder, with the name of the data folder and -backups."
            ),
        ),
        OfPath,
    ] = "data-backups"
    every: Annotated[
        Literal["never", "hour", "day"],
        Field(description="How often the server creates a backup: never, hour or day."),
    ] = "day"
    at: Annotated[
        str,
        AfterValidator(check_time_of_day),
        Field(
            description=(
                "The time of day when wmsd creates the daily backup and verifies the newest "
                "backup: HH:MM, by the server's clock."
            )
        ),
    ] = "02:30"
    keep_hourly: Annotated[Kept, Field(description="How many hourly backups to keep."), ReadEachTime] = 24
    keep_daily: Annotated[Kept, Field(description="How many daily backups to keep."), ReadEachTime] = 7
    keep_weekly: Annotated[Kept, Field(description="How many weekly backups to keep."), ReadEachTime] = 4
    passphrase_file: Annotated[
        str,
        Field(
            description="A file with a passphrase that encrypts the keys in backups. Empty: wmsd encrypts "
            "the keys with the recovery phrase."
        ),
        ReadEachTime,
        SecretFile,
        OfPath,
    ] = ""
    after: Annotated[
        str,
        Field(
            description="A command to run after each backup, for example to copy the backup to another "
            "machine. $ARCHIVE is the path of the backup."
        ),
        ReadEachTime,
        Secret,
    ] = ""

    @property
    def time(self) -> time:
        """The time of day in `at`."""
        return time.fromisoformat(self.at)

    @property
    def keep(self) -> Keep:
        return Keep(self.keep_hourly, self.keep_daily, self.keep_weekly)
