"""What somebody may see of each company's figures. It is worked out once for all who may see the same, and holds
until the company or its figures change.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Company
from wmsd.server.today.figures import CompanyFigures, Late
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS

ORDERS, INBOUND, RETURNED = (kind.table.name for kind in (SALES_ORDERS, PURCHASE_ORDERS, RETURNS))


class Needed(NamedTuple):
    """What somebody needs to see a figure."""

    ability: str
    module: str


NEEDED: Final[Mapping[str, Needed]] = {
    "late_orders": Needed("sales-orders:read", "outbound"),
    "orders_in_work": Needed("sales-orders:read", "outbound"),
    "orders_loaded": Needed("sales-orders:read", "outbound"),
    "late_inbound": Needed("purchase-orders:read", "inbound"),
    "returns_undecided": Needed("returns:read", "returns"),
    "given_up": Needed("webhooks:read", "webhooks"),
    "low": Needed("stock:read", "stock"),
    "events": Needed("webhooks:read", "webhooks"),
}
TROUBLE: Final = ("late_orders", "late_inbound", "given_up", "low")
"""The figures that should be 0, the worst first."""
LATE: Final = {ORDERS: "late_orders", INBOUND: "late_inbound"}
NEVER: Final = "9999"
"""Comes after every date."""


@dataclass(frozen=True, slots=True)
class View:
    """A company, with its figures and its late documents by kind, as far as somebody may see them. Sorted by
    `rank`, the oldest trouble comes first, then the most of it.
    """

    company: Company
    figures: Mapping[str, int | None]
    late: Mapping[str, Late]
    rank: tuple[str, list[int], str]


@dataclass(frozen=True, slots=True)
class _Views:
    """Those of a company, by the figures that are seen."""

    company: Company
    kept: CompanyFigures | None
    month: str
    by_seen: dict[frozenset[str], View]


class Views:
    def __init__(self) -> None:
        self._known: dict[int, _Views] = {}

    def of(self, company: Company, kept: CompanyFigures | None, month: str, seen: frozenset[str]) -> View:
        """`kept` is None while the figures were not read yet; `seen` are the names of those that may be seen."""
        known = self._known.get(company.id)
        if known is None or known.kept is not kept or known.company is not company or known.month != month:
            known = self._known[company.id] = _Views(company, kept, month, {})
        view = known.by_seen.get(seen)
        if view is None:
            view = known.by_seen[seen] = _view(company, kept, month, seen)
        return view

    def forget_others(self, companies: Mapping[int, Company]) -> None:
        """Forgets the companies that are gone."""
        if len(self._known) > len(companies):
            for gone in self._known.keys() - companies.keys():
                del self._known[gone]


def _view(company: Company, kept: CompanyFigures | None, month: str, seen: frozenset[str]) -> View:
    values = {} if kept is None else _values(kept, month)
    figures = {name: values.get(name) if name in seen else None for name in NEEDED}
    late = {} if kept is None else {kind: kept.late[kind] for kind, name in LATE.items() if name in seen}
    oldest = min((each.oldest[0].due for each in late.values() if each.oldest), default=NEVER)
    return View(
        company, figures, late, (oldest, [-(figures[name] or 0) for name in TROUBLE], company.name.lower())
    )


def _values(kept: CompanyFigures, month: str) -> dict[str, int]:
    return {
        "late_orders": kept.late[ORDERS].number,
        "orders_in_work": kept.by_status[ORDERS].get("IN_LUCRU", 0),
        "orders_loaded": kept.by_status[ORDERS].get("INCARCAT", 0),
        "late_inbound": kept.late[INBOUND].number,
        "returns_undecided": kept.by_status[RETURNED].get("RECEPTIONAT", 0),
        "given_up": kept.given_up,
        "low": kept.low,
        "events": kept.events if kept.month == month else 0,
    }
