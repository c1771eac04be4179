"""Holds a company's file to every promise that the capabilities declare."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from wmsd.base.checking import Check
from wmsd.base.quantity import to_text
from wmsd.db.transaction import Transaction
from wmsd.packaging.checks import CHECKS as PACKAGING
from wmsd.purchase_orders.checks import CHECKS as PURCHASE_ORDERS
from wmsd.receptions.checks import CHECKS as RECEPTIONS
from wmsd.returns.checks import CHECKS as RETURNS
from wmsd.sales_orders.checks import CHECKS as SALES_ORDERS
from wmsd.stock.checks import CHECKS as STOCK
from wmsd.transports.checks import CHECKS as TRANSPORTS
from wmsd.webhooks.checks import CHECKS as WEBHOOKS

CHECKS: Final[tuple[Check, ...]] = (
    *STOCK,
    *PACKAGING,
    *SALES_ORDERS,
    *PURCHASE_ORDERS,
    *RECEPTIONS,
    *RETURNS,
    *TRANSPORTS,
    *WEBHOOKS,
)
COUNTED_TABLES: Final = (
    *("stock", "stock_movements", "stock_lots", "stock_serials", "reservations"),
    *("sales_orders", "sales_order_lines", "purchase_orders", "purchase_order_items"),
    *("receptions", "reception_items", "returns", "return_lines"),
    *("packaging_balances", "packaging_movements"),
    *("transports", "transport_orders", "transport_packaging"),
    *("webhook_subscriptions", "webhook_deliveries", "webhook_attempts"),
)
MOST_TOLD: Final = 100
CACHE_KIB: Final = 65_536
"""Each entry of an index is looked up from its row: with what a connection has otherwise, a large file's pages are
read again and again.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """A record that breaks a promise: what it should be, and what it is."""

    promise: str
    record: str
    expected: str
    found: str


@dataclass(slots=True)
class Findings:
    rows: int = 0
    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list)


def examine(tx: Transaction) -> Findings:
    """Every check over one snapshot; of each promise at most `MOST_TOLD` differences."""
    started = time.perf_counter()
    findings = Findings()
    with _larger_cache(tx):
        findings.differences += _file(tx)
        for check in CHECKS:
            findings.differences += _differing(tx, check)
        findings.differences += _counts(tx)
        findings.rows = sum(tx.value(f"SELECT count(*) FROM {table}") for table in COUNTED_TABLES)
    findings.seconds = time.perf_counter() - started
    return findings


@contextmanager
def _larger_cache(tx: Transaction) -> Iterator[None]:
    before = tx.value("PRAGMA cache_size")
    tx.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    try:
        yield
    finally:
        tx.execute(f"PRAGMA cache_size = {before}")


def _file(tx: Transaction) -> Iterator[Difference]:
    for (found,) in tx.rows(f"PRAGMA integrity_check({MOST_TOLD})"):
        if found != "ok":
            yield Difference("the file is whole", "the file", "ok", found)
    for table, row_id, parent, _ in tx.rows("PRAGMA foreign_key_check")[:MOST_TOLD]:
        yield Difference("a reference leads to a record", f"{table} {row_id}", f"a record of {parent}", "none")


def _counts(tx: Transaction) -> Iterator[Difference]:
    for table, kept in tx.rows("SELECT name, rows FROM row_counts"):
        counted = tx.value(f"SELECT count(*) FROM {table}")
        if counted != kept:
            yield Difference("a list's total is kept right", table, str(counted), str(kept))


def _differing(tx: Transaction, check: Check) -> Iterator[Difference]:
    for record, expected, found in tx.execute(check.differing).fetchmany(MOST_TOLD):
        yield Difference(check.promise, record, _shown(expected, check), _shown(found, check))


def _shown(value: Any, check: Check) -> str:
    return to_text(value) if check.in_millionths else str(value)
