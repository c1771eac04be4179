"""Reconciles a restored platform.db with the companies' files that stayed in the data folder."""

from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.contract.context import Actor, Company
from wmsd.data_folder.continue_numbers import raise_to
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.sqlite import sole_transaction
from wmsd.db.engine.transaction import Transaction, lone_transaction
from wmsd.maintenance.company_moves import deletion_store
from wmsd.maintenance.platform_restore.company_traces import company_in, highest_id, was_deleted
from wmsd.maintenance.platform_restore.platform_numbers import leap_platform_ids, leap_size
from wmsd.tenants.companies import store

ADOPT: Final = """
    INSERT INTO companies (id, code, name, operator_id, sandbox, requests_per_minute, graphql_per_minute,
        quota_megabytes, time_zone, created_at, updated_at)
    VALUES (:id, :code, :name, (SELECT id FROM operators WHERE code = :operator_code), :sandbox,
        :requests_per_minute, :graphql_per_minute, :quota_megabytes, :time_zone, :now, :now)
"""


class Lost(NamedTuple):
    """The known content of the replaced platform.db."""

    companies: Mapping[int, Company]
    """The companies by id. Empty if the file cannot be read."""
    ended: Collection[int]
    """The ids of the companies that the replaced platform.db recorded as deleted. An interrupted deletion may have
    left their files.
    """
    marks: Mapping[int, HighWaterMark]
    is_whole: bool
    """Whether all ids in the replaced platform.db could be read."""


class AdoptedCompany(NamedTuple):
    id: int
    code: str
    had_code: str
    """The company's code in its own file. It differs from `code` if another company now has this code."""
    name: str
    modules: list[str]
    is_known: bool
    """Whether the replaced platform.db still had the company's name and settings."""


class Settled(NamedTuple):
    adopted: list[AdoptedCompany]
    deleted: list[str]
    """The codes of companies that were deleted after the backup. The reconciliation has marked them as deleted
    again.
    """
    without_file: list[str]
    """The codes of companies whose file is missing, although nothing shows that they were deleted."""
    not_adopted: list[str]
    """The files that do not name their owner, or that belong to another installation."""


class Settling:
    def __init__(
        self, data: DataFolder, backups: Path, installation: str, made_at: datetime, lost: Lost, who: Actor
    ) -> None:
        """Prepare the reconciliation. `made_at` is the time of the backup, and `who` is the actor of the
        changes.
        """
        self._data, self._backups = data, backups
        self._installation, self._made_at = installation, made_at
        self._lost = lost
        self._who = who

    def settle(self, platform: Path) -> Settled:
        """Reconcile the companies in the restored platform.db with the files. Add companies whose files are in the
        data folder. Mark companies as deleted again that were deleted after the backup.

        No process may have the restored platform.db open. Raise sqlite3.Error if that fails.
        """
        with sole_transaction(platform) as connection:
            tx = lone_transaction(connection, self._who)
            known = store.codes(tx)
            there = {path: int(path.stem) for path in self._files()}
            gone = {*self._lost.ended, *deletion_store.ended(tx)}
            strangers = {path: each for path, each in there.items() if each not in known and each not in gone}
            found = {path: company_in(path) for path in strangers}
            own = {
                path: each
                for path, each in found.items()
                if each is not None and each.owner[:2] == (self._installation, strangers[path])
            }
            missing = {each: code for each, code in known.items() if each not in there.values()}
            codes = {each.owner.code for each in own.values()}
            deleted = {each: code for each, code in known.items() if each in gone}
            deleted |= {each: code for each, code in missing.items() if self._is_deleted(each, code, codes)}
            for company in store.every_company(tx):
                if company.id in deleted:
                    _end(tx, company)
            if not self._lost.is_whole:
                leap_platform_ids(tx, leap_size(tx, tx.now - self._made_at))
            adopted = [
                self._adopt(tx, strangers[path], each.owner.code, each.modules) for path, each in own.items()
            ]
            raise_to(tx, "companies", highest_id(self._data, self._backups))
            served = store.codes(tx)
            store.keep_marks(tx, {each: mark for each, mark in self._lost.marks.items() if each in served})
        return Settled(
            adopted,
            sorted(deleted.values()),
            sorted(code for each, code in missing.items() if each not in deleted),
            [f"companies/{path.name}" for path in strangers if path not in own],
        )

    def _files(self) -> list[Path]:
        files = (
            each for each in self._data.companies.glob("*.db") if each.stem.isascii() and each.stem.isdecimal()
        )
        return sorted((each for each in files if each.stem[0] != "0"), key=lambda path: int(path.stem))

    def _is_deleted(self, company_id: int, code: str, codes: Collection[str]) -> bool:
        """Return True if the company was deleted after the backup.

        `codes` are the codes of companies that were created after the backup. If `code` is one of them, the
        company `company_id` was deleted, because two companies cannot have the same code at the same time.
        """
        if self._lost.companies:
            return company_id not in self._lost.companies
        return code in codes or was_deleted(
            self._data, self._backups, self._installation, company_id, self._made_at
        )

    def _adopt(self, tx: Transaction, company_id: int, had_code: str, used: list[str]) -> AdoptedCompany:
        known = self._lost.companies.get(company_id)
        code = _free(tx, had_code if known is None else known.code, company_id)
        name = had_code if known is None else known.name
        modules = used if known is None else sorted(known.modules)
        limits = Company(company_id, code, name) if known is None else known
        row = {
            "id": company_id,
            "code": code,
            "name": name,
            "operator_code": None if limits.operator is None else limits.operator.code,
            "sandbox": limits.sandbox,
            "requests_per_minute": limits.requests_per_minute,
            "graphql_per_minute": limits.graphql_per_minute,
            "quota_megabytes": limits.quota_megabytes,
            "time_zone": limits.time_zone,
            "now": tx.timestamp,
        }
        tx.execute(ADOPT, row)
        for module in modules:
            store.set_module(tx, company_id, module, True)
        details = store.field_differences({}, {"id": company_id, "name": name, "modules": modules})
        store.write_audit(tx, "company.adopt", code, details)
        return AdoptedCompany(company_id, code, had_code, name, modules, known is not None)


def _free(tx: Transaction, code: str, company_id: int) -> str:
    """Return `code` if no company has it. Otherwise return `code`, followed by the company's id."""
    taken = {each.casefold() for each in store.codes(tx).values()}
    return code if code.casefold() not in taken else f"{code}-{company_id}"


def _end(tx: Transaction, company: Company) -> None:
    tx.execute(deletion_store.GIVE_UP, (company.id,))
    tx.execute(deletion_store.BEGIN, (company.id, company.code, tx.timestamp))
    deletion_store.end(tx, company)
