"""The names of all files and folders that may be in a data folder.

The table on the guide's page "What is in the data folder" has a row for each name. In a name, ID stands for a
number and … for anything except a slash. A name that ends with a slash is a folder with its whole content.
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
    *("upgrade.json", "upgrade-….log", "before-…/", "replaced-…/", "deleted-…/", "swap.json"),
    *("….json.new", ".wmsd-probe", ".proving/", ".restoring/", ".platform-copy-…", ".taking-over-…/", ".replica/"),
    *("litestream.socket", ".platform.db-litestream/", "companies/.ID.db-litestream/"),
)
OF_SQLITE: Final = ("platform.db-journal", "companies/ID.db-journal")
"""Files that SQLite creates only if a program other than wmsd writes to a database. wmsd reads them too."""
NOBODYS: Final = frozenset({"lost+found", ".gitkeep"})
"""Names that are allowed in a data folder, although wmsd does not create them. Each new file system has a
`lost+found`. `.gitkeep` is in the empty folder `data` of a git checkout of wmsd.
"""
PLATFORM_FILE: Final = "platform.db"


def pattern(name: str) -> str:
    """Return a regular expression for the paths that match a name in `NAMES`."""
    inside = "(/.*)?" if name.endswith("/") else ""
    return re.escape(name.removesuffix("/")).replace("ID", "[1-9][0-9]*").replace("…", "[^/]*") + inside


_OWN: Final = "|".join(map(pattern, (*NAMES, *OF_SQLITE)))
_BEGINNINGS: Final = {name.partition("/")[0] for name in NAMES if "/" in name.removesuffix("/")}


def is_own(name: str) -> bool:
    """Return True if wmsd creates a file or folder with this path, which is relative to the data folder."""
    return name in _BEGINNINGS or re.fullmatch(_OWN, name, re.ASCII) is not None


def foreign_names(data: Path) -> list[str]:
    """Return the names in a data folder that are not from wmsd. Return an empty list if there is no folder, and
    raise OSError if the folder cannot be read.
    """
    names = (entry.name for entry in data.iterdir()) if data.is_dir() else ()
    return sorted(name for name in names if name not in NOBODYS and not is_own(name))
