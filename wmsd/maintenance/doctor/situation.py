"""The input of the checks of an installation. The checks read files, and write none."""

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
    """An installation to examine. `codes` are the codes of the companies by id, or None if `platform.db` cannot be
    read.
    """

    folder: DataFolder
    settings: Settings
    now: datetime
    codes: Mapping[int, str] | None = None
    marks: Mapping[int, HighWaterMark] = field(default_factory=dict)
    """The high-water marks of the companies' files, as recorded in `platform.db`."""
    keys: KnownKeys | None = None
    """What `platform.db` says about the keys, or None if it cannot be read."""
    clock: Known | None = None
    wrong_clock: WrongClock | None = None
    """The evidence that the clock is wrong, or None."""
    emails: Sequence[str] = ()
    """The e-mail addresses of the users, as they are stored."""
    recovery: Recovery | None = None
    """The list of tasks after a restore. None if `platform.db` cannot be read, or is of an older version."""
    server: Serving | None = None
    """The server that is running in the folder, or None."""
    config_file: Path | None = None
    mistakes: Sequence[str] = ()
    """The errors in the settings. `settings` does not contain the settings with errors."""
    is_packed: bool = False
    """Whether this program is the one-file program. It unpacks itself into the temporary folder."""
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
        """The existing database files: `platform.db` and the files of companies."""
        found = sorted(self.folder.companies.glob("*.db"))
        return [*([self.folder.platform_file] if self.folder.platform_file.exists() else []), *found]

    @staticmethod
    def company_of(path: Path) -> int | None:
        """Return the id of the company, by the name of its file. Return None for other names, such as `01.db`."""
        return int(path.stem) if COMPANY_FILE.fullmatch(path.name) else None

    @property
    def owner(self) -> int:
        """The id of the user who should run the server: the owner of the folder."""
        return self.data.stat().st_uid
