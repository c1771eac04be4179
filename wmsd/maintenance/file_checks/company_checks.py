"""The checks of a company's file, and the checks that any database file is undamaged.

Each check of a company's file verifies a promise: a rule about the data that a package declares.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import islice
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.quantity import to_text
from wmsd.contract.invariants import Check
from wmsd.db.engine.failures import is_damage, is_of_disk
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.integrity import UNREADABLE, Damage, damages, foreign_schema, tables
from wmsd.events.webhooks.checks import CHECKS as WEBHOOKS
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.packaging.checks import CHECKS as PACKAGING
from wmsd.warehouse.search.index_damage import is_of_index
from wmsd.warehouse.stock.checks import CHECKS as STOCK
from wmsd.warehouse.transports.checks import CHECKS as TRANSPORTS

CHECKS: Final[tuple[Check, ...]] = (
    *STOCK,
    *PACKAGING,
    *(check for kind in DOCUMENTS for check in kind.every_check),
    *TRANSPORTS,
    *WEBHOOKS,
)
COUNTED_TABLES: Final = (
    *("stock", "stock_movements", "stock_lots", "stock_serials", "reservations"),
    *(table for kind in DOCUMENTS for table in (kind.table.name, kind.table.line_table.name)),
    *("packaging_balances", "packaging_movements"),
    *("transports", "transport_orders", "transport_packaging"),
    *("webhook_subscriptions", "webhook_deliveries", "webhook_attempts"),
)
REFERENCES_LEAD: Final = "each reference in {table} must point to an existing record"
ROWS_COUNTED: Final = "the rows of {table} must be readable"
REFERENCE: Final = "each reference must point to an existing record"
A_RECORD: Final = "a record of {table}"
NONE: Final = "none"
TOTAL: Final = "the stored total of a list must equal the number of its records"
IS_NEWEST: Final = "the file must contain every change that wmsd wrote to it"
LAST_CHANGE: Final = "the last change (event {found} in the file, event {noted} in platform.db)"
PROMISES: Final[Mapping[str, tuple[str, ...]]] = {
    **{check.promise: check.words for check in CHECKS},
    REFERENCE: (A_RECORD, NONE),
    TOTAL: (),
    IS_NEWEST: (LAST_CHANGE,),
}
"""The texts for a broken promise: they describe the record and the values. Each key is a promise, as a sentence.
"""
READINGS: Final = (REFERENCES_LEAD, ROWS_COUNTED)
"""Promises about one table. They are reported only if damage prevents their check."""
MOST_LISTED: Final = 100
CACHE_KIB: Final = 32_768
"""The size of SQLite's cache in KiB during the checks. The checks look up the row of each index entry. With a
small cache, SQLite reads the same pages of a large file again and again.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """A record that breaks a promise, with the expected and the found value."""

    promise: str
    record: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Unproved:
    """A promise that cannot be checked, because the data that the check reads is damaged."""

    promise: str
    reason: str


@dataclass(slots=True)
class Findings:
    rows: int = 0
    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    unproved: list[Unproved] = field(default_factory=list)

    @property
    def are_none(self) -> bool:
        return not (self.differences or self.damages or self.unproved)

    @property
    def is_only_of_index(self) -> bool:
        """Whether only the search index is damaged, which can be rebuilt from the records."""
        return bool(self.damages) and all(map(is_of_index, self.damages))


def examine(tx: Transaction) -> Findings:
    """Run every check of a company's file on one snapshot. Each promise reports at most `MOST_LISTED` differences.

    If a check finds damage, all other checks still run. If the schema is not that of wmsd, no check runs: a view
    in place of a table can run forever.
    """
    started = time.perf_counter()
    if foreign := _foreign(tx):
        return Findings(damages=foreign)
    with _larger_cache(tx):
        findings = examine_file(tx)
        for check in CHECKS:
            with _as_far_as_readable(findings, check.promise):
                findings.differences.extend(_differing(tx, check))
        _compare_totals(tx, findings)
        for table in COUNTED_TABLES:
            with _as_far_as_readable(findings, ROWS_COUNTED.format(table=table)):
                findings.rows += tx.value(f"SELECT count(*) FROM {table}")
    findings.seconds = time.perf_counter() - started
    return findings


def examine_file(tx: Transaction) -> Findings:
    """Check what must be true of any database file. It must be undamaged and have the schema of the migrations,
    and every reference must lead to a record.
    """
    if foreign := _foreign(tx):
        return Findings(damages=foreign)
    findings = Findings(damages=damages(tx))
    for table in tables(tx):
        with _as_far_as_readable(findings, REFERENCES_LEAD.format(table=table)):
            findings.differences.extend(_references(tx, table))
    return findings


def _foreign(tx: Transaction) -> list[Damage]:
    """Return the parts of the schema that wmsd did not create. If the schema cannot be read, return an empty list,
    because `damages` reports the unreadable schema.
    """
    with suppress(*UNREADABLE):
        return foreign_schema(tx)
    return []


@contextmanager
def _as_far_as_readable(findings: Findings, promise: str) -> Iterator[None]:
    """If damage of the file or the disk stops the `with` block, record in `findings` that `promise` could not be
    checked.

    Raise any other error, because it means that the check itself is wrong.
    """
    try:
        yield
    except UNREADABLE as error:
        if not findings.damages and not _is_of_file(error):
            raise
        findings.unproved.append(Unproved(promise, str(error) or type(error).__name__))


def _is_of_file(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and (is_damage(error) or is_of_disk(error))


@contextmanager
def _larger_cache(tx: Transaction) -> Iterator[None]:
    before = tx.value("PRAGMA cache_size")
    tx.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    try:
        yield
    finally:
        tx.execute(f"PRAGMA cache_size = {before}")


def _references(tx: Transaction, table: str) -> Iterator[Difference]:
    for name, row_id, parent, _ in islice(tx.execute(f'PRAGMA foreign_key_check("{table}")'), MOST_LISTED):
        record = name if row_id is None else f"{name} {row_id}"
        yield Difference(REFERENCE, record, A_RECORD.format(table=parent), NONE)


def _compare_totals(tx: Transaction, findings: Findings) -> None:
    with _as_far_as_readable(findings, TOTAL):
        for table, kept in tx.rows("SELECT name, rows FROM row_counts"):
            with _as_far_as_readable(findings, TOTAL):
                counted = tx.value(f"SELECT count(*) FROM {table}")
                if counted != kept:
                    findings.differences.append(Difference(TOTAL, table, str(counted), str(kept)))


def _differing(tx: Transaction, check: Check) -> Iterator[Difference]:
    for record, expected, found in tx.execute(check.differing).fetchmany(MOST_LISTED):
        yield Difference(check.promise, str(record), _shown(expected, check), _shown(found, check))


def _shown(value: Any, check: Check) -> str:
    return to_text(value) if check.in_millionths and isinstance(value, int) else str(value)
