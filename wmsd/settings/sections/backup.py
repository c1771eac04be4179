"""[backup]: the folder and schedule of backups, and how many are kept."""

from datetime import time
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from wmsd.base.backup_schedule import Keep
from wmsd.contract.secret_fields import OfPath, Secret, SecretFile
from wmsd.settings.sections.fields import Kept, ReadEachTime, Section, check_time_of_day


class Backup(Section):
    """Backups, their schedule, and how many are kept."""

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
        """The time of day in `at`."""
        return time.fromisoformat(self.at)

    @property
    def keep(self) -> Keep:
        return Keep(self.keep_hourly, self.keep_daily, self.keep_weekly)
