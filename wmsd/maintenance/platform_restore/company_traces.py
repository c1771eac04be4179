"""Finds traces of companies that platform.db does not know, in their files, in the data folder and in backups."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.contract.access import MODULES
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import FIND, Owner
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.integrity import UNREADABLE
from wmsd.db.files.read_only_copy import content_of, opened_without_writing, owner_of
from wmsd.db.migrations import COMPANY
from wmsd.maintenance.backups.archive import readable_manifests
from wmsd.maintenance.backups.folder import BackupFolder

USED: Final = {
    "articles": ("articles",),
    "stock": ("stock", "packaging_movements"),
    "outbound": ("sales_orders",),
    "inbound": ("purchase_orders", "receptions"),
    "returns": ("returns",),
    "webhooks": ("webhook_subscriptions",),
}
"""The tables whose rows show that a company uses a module, by module."""
FILES: Final = ("companies/*.db*", "replaced-*/companies/*.db*", "before-*/companies/*.db*", "deleted-*/*.db*")
"""Patterns for files in a data folder. Each file name begins with the id of the company to which the file belongs.
"""
FOLDERS: Final = ("requests/*", "imports/*")
"""Patterns for folders in a data folder. Each folder name is a company id."""
ID: Final = re.compile(r"([1-9][0-9]{0,17})(\.db.*)?", re.ASCII)
OF_ARCHIVE: Final = re.compile(r"company-([1-9][0-9]{0,17})-.*", re.ASCII)


class CompanyInFile(NamedTuple):
    owner: Owner
    modules: list[str]
    """The modules that the company has used, and `api`."""


def owner_in(path: Path) -> Owner | None:
    """Return the owner that is stored in the file: a company and its installation. If necessary, read the
    write-ahead log too.

    Return None if the file cannot be read, or has no owner. Nothing is written.
    """
    if content_of(path, COMPANY) != "good":
        return None
    if (owner := owner_of(path)) is not None:
        return owner
    with suppress(StorageError, *UNREADABLE), opened_without_writing(path, COMPANY) as tx:
        row = tx.row(FIND)
        return None if row is None else Owner(*row)
    return None


def company_in(path: Path) -> CompanyInFile | None:
    """Return the company that owns the file. Return None if the file cannot be read, or has no owner. Nothing is
    written.
    """
    with suppress(StorageError, *UNREADABLE), opened_without_writing(path, COMPANY) as tx:
        row = tx.row(FIND)
        return None if row is None else CompanyInFile(Owner(*row), _modules(tx))
    return None


def _modules(tx: Transaction) -> list[str]:
    def is_used(module: str) -> bool:
        return any(tx.value(f"SELECT EXISTS (SELECT 1 FROM {table})") for table in USED.get(module, ()))

    return [module for module in MODULES if module == "api" or is_used(module)]


def highest_id(data: DataFolder, backups: Path) -> int:
    """Return the highest company id in the data folder and in the archives. Files that deletions and restores have
    left count too.
    """
    return max((*_in_data(data.path), *_in_archives(backups)), default=0)


def _in_data(data: Path) -> Iterator[int]:
    for pattern in (*FILES, *FOLDERS):
        for path in data.glob(pattern):
            if found := ID.fullmatch(path.name):
                yield int(found[1])


def _in_archives(backups: Path) -> Iterator[int]:
    """Yield the company ids in all archives. Archives of other installations may be among them. This does no harm,
    because it can only make the highest id larger.
    """
    for path in BackupFolder(backups).of_companies().companies():
        if found := OF_ARCHIVE.fullmatch(path.name):
            yield int(found[1])
    for _, manifest in readable_manifests(BackupFolder(backups).archives()):
        yield from (file.company_id or 0 for file in manifest.files)


def was_deleted(data: DataFolder, backups: Path, installation: str, company_id: int, since: datetime) -> bool:
    """Return True if the company was deleted. This is known if its file is in a folder `deleted-…`, or in the
    archive of a deletion after `since`.
    """
    if any(data.path.glob(f"deleted-{company_id}-*/{company_id}.db")):
        return True
    archives = BackupFolder(backups).of_companies().companies()
    own = [path for path in archives if path.name.startswith(f"company-{company_id}-")]
    return any(
        manifest.installation == installation
        and manifest.has_company(company_id)
        and timestamps.from_text(manifest.began_at) >= since
        for _, manifest in readable_manifests(own)
    )
