"""The statistics of a company. Triggers maintain them in tables, so no rows have to be counted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.store import event_counts as counts_of_events
from wmsd.warehouse.document_kinds import DOCUMENTS

STATUSES: Final[Mapping[str, tuple[str, ...]]] = {kind.table.name: kind.table.statuses for kind in DOCUMENTS}
RESOURCES: Final = (
    *("articles", "stock", "clients", "partners", "warehouses", *STATUSES),
    *("packaging_types", "packaging_balances", "packaging_movements", "webhook_subscriptions"),
)
ROWS: Final = "SELECT name, rows FROM row_counts"
BY_STATUS: Final = {
    kind.table.name: f"SELECT status, sum(rows) FROM {kind.table.tally.table} GROUP BY status"
    for kind in DOCUMENTS
}
DELIVERIES: Final = "SELECT status, sum(rows) FROM webhook_subscription_counts GROUP BY status"


@dataclass(slots=True)
class Figures:
    """The statistics of a company.

    `rows` are counted by resource, and `by_status` by resource and status. `deliveries` are webhook deliveries by
    status. `events` are the events of one month by name, and `events_ever` is the number of all events.
    """

    rows: Counter[str] = field(default_factory=Counter)
    by_status: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in STATUSES})
    deliveries: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    events_ever: int = 0


def read(tx: Transaction, month: str) -> Figures:
    """Read the statistics from a company's file. `events` are those of `month`, such as 2026-07."""
    by_month = counts_of_events(tx)
    return Figures(
        rows=Counter(dict(tx.rows(ROWS))),
        by_status={name: Counter(dict(tx.rows(sql))) for name, sql in BY_STATUS.items()},
        deliveries=Counter(dict(tx.rows(DELIVERIES))),
        events=Counter(by_month.get(month, {})),
        events_ever=sum(sum(events.values()) for events in by_month.values()),
    )


def add_up(several: Iterable[Figures]) -> Figures:
    total = Figures()
    for each in several:
        total.rows.update(each.rows)
        for name, counts in each.by_status.items():
            total.by_status[name].update(counts)
        total.deliveries.update(each.deliveries)
        total.events.update(each.events)
        total.events_ever += each.events_ever
    return total


def figures_as_json(figures: Figures | None, month: str) -> dict[str, Any]:
    """Return statistics as JSON for `CompanyStats` and `TotalStats`.

    For a company whose file cannot be used, `figures` and every value are None.
    """
    if figures is None:
        return {"resources": None, "events": None, "deliveries": None}
    deliveries = figures.deliveries
    return {
        "resources": {name: _resource(figures, name) for name in RESOURCES},
        "events": {
            "month": month,
            "by_name": dict(sorted(figures.events.items())),
            "in_month": figures.events.total(),
            "ever": figures.events_ever,
        },
        "deliveries": {
            "open": deliveries["pending"] + deliveries["held"],
            "delivered": deliveries["delivered"],
            "exhausted": deliveries["exhausted"],
            "skipped": deliveries["skipped"],
        },
    }


def _resource(figures: Figures, name: str) -> dict[str, Any]:
    by_status = None
    if name in STATUSES:
        by_status = {status: figures.by_status[name][status] for status in STATUSES[name]}
    return {"count": figures.rows[name], "by_status": by_status}
