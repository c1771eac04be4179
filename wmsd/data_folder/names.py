"""The names of everything that can stand in a data folder. The guide's page "What is in the data folder" has a row
for each, and says what it is.

In a name, ID stands for a number and … for anything but a slash. A name that ends with a slash is a folder, with
all that is in it.
"""

import re
from pathlib import Path
from typing import Final

NAMES: Final = (
    *("platform.db", "platform.db-wal", "platform.db-shm", "platform.db.new…"),
    *("companies/ID.db", "companies/ID.db-wal", "companies/ID.db-shm", "companies/ID.db.new…"),
    *("companies/ID.db.removed-…", "companies/ID.db.orphan-…", "companies/ID.db-wal.overwritten-…"),
    *("server.lock", "server.socket", "borrowers.lock", "reserve"),
    *("tls/authority.pem", "tls/authority.key", "tls/served.pem", "tls/….new"),
    *(
        "imports/",
        "requests/",
        "backups/",
        "backup.json",
        "backup-folders.json",
        "alerts.json",
        "alerts-mail.json",
        "examination.json",
    ),
    *("upgrade.json", "upgrade-….log", "before-…/", "replaced-…/", "swap.json"),
    *("….json.new", ".wmsd-probe", ".proving/", ".restoring/", ".platform-copy-…", ".taking-over-…/", ".replica/"),
    *("litestream.socket", ".platform.db-litestream/", "companies/.ID.db-litestream/"),
)
OF_SQLITE: Final = ("platform.db-journal", "companies/ID.db-journal")
"""Only other programs have SQLite make them; wmsd reads them all the same."""
NOBODYS: Final = frozenset({"lost+found", ".gitkeep"})
"""Stand in each new file system, and in an empty folder of a git checkout such as that of these sources."""
PLATFORM_FILE: Final = "platform.db"


def pattern(name: str) -> str:
    """A regular expression for the paths that a name of the table stands for."""
    inside = "(/.*)?" if name.endswith("/") else ""
    return re.escape(name.removesuffix("/")).replace("ID", "[1-9][0-9]*").replace("…", "[^/]*") + inside


_OWN: Final = "|".join(map(pattern, (*NAMES, *OF_SQLITE)))
_BEGINNINGS: Final = {name.partition("/")[0] for name in NAMES if "/" in name.removesuffix("/")}


def is_own(name: str) -> bool:
    """Whether wmsd makes what stands at this path, which begins in the data folder."""
    return name in _BEGINNINGS or re.fullmatch(_OWN, name, re.ASCII) is not None


def strangers(data: Path) -> list[str]:
    """The names in a data folder that are none of wmsd's. Raises OSError, but not where there is no folder."""
    names = (entry.name for entry in data.iterdir()) if data.is_dir() else ()
    return sorted(name for name in names if name not in NOBODYS and not is_own(name))
