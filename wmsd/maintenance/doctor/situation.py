"""What the looks at an installation are given. They read files, and write none."""

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Final

from wmsd.base.clock_trust import Known
from wmsd.base.dataclass import dataclass
from wmsd.data_folder.clock_verdict import WrongClock
from wmsd.data_folder.folder import DataFolder, Serving
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.maintenance.doctor.file_systems import FileSystem, file_system_of
from wmsd.maintenance.keys.key_protection import KnownKeys
from wmsd.settings.all_settings import Settings
from wmsd.tenants.recovery.store import Recovery

COMPANY_FILE: Final = re.compile(r"[1-9][0-9]*\.db", re.ASCII)


@dataclass(frozen=True, slots=True)
class Situation:
    """`codes` are those of the companies by their ids; None where `platform.db` cannot be read."""

    folder: DataFolder
    settings: Settings
    now: datetime
    codes: Mapping[int, str] | None = None
    marks: Mapping[int, HighWaterMark] = field(default_factory=dict)
    """How far companies' files have come, as far as `platform.db` has noted it."""
    keys: KnownKeys | None = None
    """What `platform.db` says of the keys; None where it cannot be read."""
    clock: Known | None = None
    wrong_clock: WrongClock | None = None
    """What shows that the clock is wrong."""
    emails: Sequence[str] = ()
    """Those of the users, as they are stored."""
    recovery: Recovery | None = None
    """The list of the day after; None where `platform.db` cannot be read, or is of an older version."""
    server: Serving | None = None
    """The server that runs in the folder."""
    config_file: Path | None = None
    mistakes: Sequence[str] = ()
    """What is wrong in the settings, and was left out of them."""
    is_packed: bool = False
    """Whether the program is the one that unpacks itself into the temporary folder."""
    temporary: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    file_system_of: Callable[[Path], FileSystem] = file_system_of
    user: int = field(default_factory=os.geteuid)

    @property
    def data(self) -> Path:
        return self.folder.path

    @property
    def backups(self) -> Path:
        return Path(self.settings.backup.folder)

    @property
    def files(self) -> list[Path]:
        """`platform.db`, and every file that a company may have, as far as they are there."""
        found = sorted(self.folder.companies.glob("*.db"))
        return [*([self.folder.platform_file] if self.folder.platform_file.exists() else []), *found]

    @staticmethod
    def company_of(path: Path) -> int | None:
        """The id of the company whose file it is, by its name; None where it is named otherwise, as `01.db` is."""
        return int(path.stem) if COMPANY_FILE.fullmatch(path.name) else None

    @property
    def owner(self) -> int:
        """The user who is to serve the folder: its owner."""
        return self.data.stat().st_uid
