"""Reads the figures of one company from its file. They come from counters, which database triggers keep up to
date, and from indexes of due dates.
"""

from typing import Final

from pydantic import BaseModel

from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.store import event_counts as counts_of_events
from wmsd.events.webhooks.figures import failed_tests
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.warehouse.articles.store import COUNT_LOW
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.purchase_orders.store import ORDERS as PURCHASE_ORDERS
from wmsd.warehouse.sales_orders.store import ORDERS as SALES_ORDERS

MOST_LISTED: Final = 20
"""How many late documents of each kind are listed, at most. The oldest are listed first."""
TABLES: Final = tuple(kind.table for kind in DOCUMENTS)
DUE: Final = tuple(table for table in TABLES if table.due is not None)
GIVEN_UP: Final = f"""
    SELECT coalesce(sum(max(0, rows - {failed_tests("webhook_subscriptions.id")})), 0) FROM webhook_subscriptions
    CROSS JOIN webhook_subscription_counts ON subscription_id = id AND status = 'exhausted'
    WHERE url <> '{ADDRESS}'
"""
"""The SQL that counts the webhook deliveries whose last attempt has failed, so that wmsd tries no more. Test
deliveries, and deliveries to test receivers, do not count, because they only simulate failures.
"""
WAITING: Final = """
    SELECT coalesce(sum(rows), 0) FROM webhook_subscription_counts WHERE status IN ('pending', 'held')
"""
WITHOUT_CREDENTIALS: Final = """
    SELECT coalesce(sum(rows), 0) FROM webhook_subscriptions
    CROSS JOIN webhook_subscription_counts ON subscription_id = id AND status IN ('pending', 'held')
    WHERE credentials_missing_since IS NOT NULL
"""
OLDEST_WAITING: Final = """
    SELECT min((
        SELECT min(created_at) FROM webhook_deliveries INDEXED BY webhook_deliveries_by_status
        WHERE subscription_id = webhook_subscriptions.id AND status = 'pending'
    )) FROM webhook_subscriptions
"""
CREDENTIALS: Final = f"SELECT count(*) FROM webhook_subscriptions WHERE url <> '{ADDRESS}'"


class LateDocument(BaseModel):
    id: int
    code: str
    status: str
    due: str
    partner: str | None
    waits_for: str | None
    """The code of the unfinished transport or reception to which the document is assigned, or None."""


class Late(BaseModel):
    """Documents of a kind whose due date is before today."""

    number: int
    oldest: list[LateDocument]


class CompanyFigures(BaseModel):
    """The figures of a company, as they were on the date `day`.

    `next_due` is the earliest due date, from `day` on, of an unfinished document. It is None if there is no such
    date. The figures are valid on `day`, and on later dates before `next_due`. After that, other documents are due
    or late.
    """

    day: str
    month: str
    next_due: str | None
    late: dict[str, Late]
    """The late documents, by the name of the document kind."""
    due_today: dict[str, int]
    """The number of documents that are due on `day` and not finished, by the name of the document kind."""
    by_status: dict[str, dict[str, int]]
    """The number of documents in each status, by the name of the document kind."""
    given_up: int
    waiting: int
    """The number of webhook deliveries that must still be sent."""
    without_credentials: int
    """The number of waiting webhook deliveries whose webhook lacks its credentials."""
    oldest_waiting: str | None
    """The time when the oldest waiting webhook delivery was queued, or None if no webhook delivery is waiting."""
    low: int
    """The number of articles below their minimum in at least one warehouse, or with a minimum but never in stock.
    """
    events: int
    """The number of events in `month`."""
    bytes: int
    """The size of the company's file in bytes. Free pages of the file are not counted."""
    credentials: int
    """The number of webhooks with credentials, which the installation's keys encrypt. Test receivers do not count.
    """

    def holds(self, today: str) -> bool:
        """Return True if the figures are still valid on the date `today`. The caller must also check whether the
        file has changed since the figures were read.
        """
        if self.day == today:
            return True
        return self.day < today and (self.next_due is None or self.next_due > today)


def read(tx: Transaction, today: str, month: str) -> CompanyFigures:
    """Read the figures of a company.

    `today` is a date, such as 2026-11-24. `month` is the month whose events are counted, in UTC, such as 2026-11.
    """
    coming = [due for table in DUE if (due := tx.value(next_sql(table), {"today": today})) is not None]
    return CompanyFigures(
        day=today,
        month=month,
        next_due=min(coming, default=None),
        late={table.name: _late(tx, table, today) for table in DUE},
        due_today={table.name: tx.value(due_today_sql(table), {"today": today}) for table in DUE},
        by_status={table.name: dict(tx.rows(BY_STATUS.format(table.tally.table))) for table in TABLES},
        given_up=tx.value(GIVEN_UP),
        waiting=tx.value(WAITING),
        without_credentials=tx.value(WITHOUT_CREDENTIALS),
        oldest_waiting=tx.value(OLDEST_WAITING),
        low=tx.value(COUNT_LOW),
        events=sum(counts_of_events(tx, month).get(month, {}).values()),
        bytes=tx.bytes_used(),
        credentials=tx.value(CREDENTIALS),
    )


WAITS_FOR: Final = {
    SALES_ORDERS.name: """
        SELECT transport_ecc FROM transport_orders CROSS JOIN transports ON transports.id = transport_id
        WHERE sales_order_id = sales_orders.id AND transports.status <> 'LIVRAT' LIMIT 1
    """,
    PURCHASE_ORDERS.name: """
        SELECT code FROM receptions
        WHERE purchase_order_id = purchase_orders.id AND status IN ('CREAT', 'IN_LUCRU') LIMIT 1
    """,
}
"""The SQL that finds the unfinished transport or reception of a late document, by the name of the document kind.
"""
BY_STATUS: Final = "SELECT status, sum(rows) FROM {} GROUP BY status"


def _late(tx: Transaction, table: DocumentTable, today: str) -> Late:
    oldest_rows = tx.records(oldest_sql(table), {"today": today, "most": MOST_LISTED})
    return Late(
        number=tx.value(late_sql(table), {"today": today}),
        oldest=[LateDocument(**row) for row in oldest_rows],
    )


def late_sql(table: DocumentTable) -> str:
    return f"SELECT count(*) FROM {_open(table)} AND {_field(table)} < :today"


def due_today_sql(table: DocumentTable) -> str:
    return f"SELECT count(*) FROM {_open(table)} AND {_field(table)} = :today"


def oldest_sql(table: DocumentTable) -> str:
    return f"""
        SELECT id, code, status, {_field(table)} AS due,
            (SELECT name FROM partners WHERE partners.id = {table.name}.partner_id) AS partner,
            ({WAITS_FOR[table.name]}) AS waits_for
        FROM {_open(table)} AND {_field(table)} < :today ORDER BY {_field(table)}, id LIMIT :most
    """


def next_sql(table: DocumentTable) -> str:
    return f"SELECT min({_field(table)}) FROM {_open(table)} AND {_field(table)} >= :today"


def _field(table: DocumentTable) -> str:
    assert table.due is not None
    return table.due.field


def _open(table: DocumentTable) -> str:
    """Return the part of an SQL statement after FROM, for open documents with a due date. It uses the index of due
    dates.
    """
    assert table.due is not None
    statuses = ", ".join(f"'{status}'" for status in table.due.statuses)
    return (
        f"{table.name} INDEXED BY {table.name}_by_{table.due.field} "
        f"WHERE {table.due.field} IS NOT NULL AND status IN ({statuses})"
    )
