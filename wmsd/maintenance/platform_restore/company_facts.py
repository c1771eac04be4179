"""What the file of a company says of that company, for a platform.db that does not know it."""

from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.contract.access import MODULES
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import FIND, Owner
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.integrity import UNREADABLE
from wmsd.db.files.read_only_copy import content_of, opened_without_writing, owner_of
from wmsd.db.migrations import COMPANY

USED: Final = {
    "articles": ("articles",),
    "stock": ("stock", "packaging_movements"),
    "outbound": ("sales_orders",),
    "inbound": ("purchase_orders", "receptions"),
    "returns": ("returns",),
    "webhooks": ("webhook_subscriptions",),
}
"""The tables whose rows show that a company uses a module."""


class CompanyInFile(NamedTuple):
    owner: Owner
    modules: list[str]
    """The modules that the company has records of, and `api`."""


def owner_in(path: Path) -> Owner | None:
    """Whose file it says that it is, also where only its log says so. None where the file cannot be read, or does
    not say it. Nothing is written.
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
    """None where the file cannot be read, or does not say whose it is. Nothing is written."""
    with suppress(StorageError, *UNREADABLE), opened_without_writing(path, COMPANY) as tx:
        row = tx.row(FIND)
        return None if row is None else CompanyInFile(Owner(*row), _modules(tx))
    return None


def _modules(tx: Transaction) -> list[str]:
    def is_used(module: str) -> bool:
        return any(tx.value(f"SELECT EXISTS (SELECT 1 FROM {table})") for table in USED.get(module, ()))

    return [module for module in MODULES if module == "api" or is_used(module)]
