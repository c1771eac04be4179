"""The overview for the page Today: the companies of a person, sorted by urgency, with totals.

An overview contains only what the person may see. People with the same rights share one overview, and one `View`
of each company. Both are cached until a company or its figures change. Therefore Today answers nearly as fast with
1 000 companies as with ten.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Company
from wmsd.dispatch.access_cache import AccessCache
from wmsd.platform.today.schema import LateToday
from wmsd.server.today.figures import MOST_LISTED, CompanyFigures, Late
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.tenants.companies.unknown_codes import names_apart
from wmsd.warehouse.counts.kind import COUNTS
from wmsd.warehouse.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.warehouse.returns.kind import RETURNS
from wmsd.warehouse.sales_orders.kind import SALES_ORDERS

MOST_LATE: Final = MOST_LISTED
"""How many late documents an overview contains, for all companies together. The oldest come first."""
MOST_KEPT: Final = 32
"""How many overviews are cached. People with the same rights share one overview."""
ORDERS, INBOUND, RETURNED, COUNTED = (kind.table.name for kind in (SALES_ORDERS, PURCHASE_ORDERS, RETURNS, COUNTS))


class Needed(NamedTuple):
    """A condition for a figure: the person needs the ability, and the company needs the module."""

    ability: str
    module: str


OF_ORDERS: Final = (Needed("sales-orders:read", "outbound"),)
OF_INBOUND: Final = (Needed("purchase-orders:read", "inbound"),)
OF_WEBHOOKS: Final = (Needed("webhooks:read", "webhooks"),)
NEEDED: Final[Mapping[str, tuple[Needed, ...]]] = {
    "late_orders": OF_ORDERS,
    "to_load_today": OF_ORDERS,
    "orders_not_taken": OF_ORDERS,
    "orders_in_work": OF_ORDERS,
    "orders_loaded": OF_ORDERS,
    "late_inbound": OF_INBOUND,
    "expected_today": OF_INBOUND,
    "returns_undecided": (Needed("returns:read", "returns"),),
    "counts_to_book": (Needed("stock:read", "stock"),),
    "given_up": OF_WEBHOOKS,
    "low": (Needed("stock:read", "stock"), Needed("articles:read", "articles")),
    "events": OF_WEBHOOKS,
}
"""The conditions for each figure. The page links each figure to a list, which needs the same abilities."""
TROUBLE: Final = ("late_orders", "late_inbound", "given_up", "low")
"""The figures that count problems, the worst problem first."""
LATE: Final = {ORDERS: "late_orders", INBOUND: "late_inbound"}
NEVER: Final = "9999"
"""A text that sorts after every date."""


@dataclass(frozen=True, slots=True)
class View:
    """The figures and the late documents (by kind) of one company, as far as people with certain rights may see
    them.

    `rank` is a sort key: the companies with the oldest problems come first. If the problems are equally old, the
    companies with the most problems come first.
    """

    company: Company
    figures: Mapping[str, int | None]
    late: Mapping[str, Late]
    rank: tuple[str, list[int], str]
    kept: CompanyFigures | None
    """The stored figures from which this view was created, or None if they were not read yet."""
    month: str


@dataclass(frozen=True, slots=True)
class Overview:
    """All companies of a person. `views` is sorted: the company with the oldest problem comes first. `names` has
    the display name of each company, by the company's code.
    """

    views: Sequence[View]
    names: Mapping[str, str]
    totals: Mapping[str, int | None]
    late: Sequence[Mapping[str, Any]]


class Overviews:
    def __init__(self, figures: TodayFigures, access: AccessCache) -> None:
        self._figures = figures
        self._access = access
        self._views: dict[tuple[int, frozenset[str]], View] = {}
        """The cached views, by company id and by the names of the figures that the view shows."""
        self._known: dict[tuple[frozenset[int] | None, frozenset[str]], Overview] = {}
        self._companies: Mapping[int, Company] = {}
        self._state: tuple[int, str] | None = None
        """The version and the month of the figures in the cached overviews."""

    async def of(self, company_ids: frozenset[int] | None, allowed: frozenset[str]) -> Overview:
        """Return the overview of these companies, or of all companies if `company_ids` is None.

        `allowed` has the names of the figures that the person's abilities allow.
        """
        companies, state = await self._access.companies(), (self._figures.version, self._figures.month)
        if companies is not self._companies or state != self._state:
            self._companies, self._state = companies, state
            self._known.clear()
            if len(self._views) > len(companies):
                self._views = {key: each for key, each in self._views.items() if key[0] in companies}
        key = company_ids, allowed
        found = self._known.pop(key, None) or self._overview(company_ids, allowed)
        self._known[key] = found
        if len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]  # the least recently used
        return found

    def _overview(self, company_ids: frozenset[int] | None, allowed: frozenset[str]) -> Overview:
        month, views, seen = self._figures.month, [], dict[frozenset[str], frozenset[str]]()
        for company in self._companies.values():
            if company_ids is None or company.id in company_ids:
                modules = company.modules
                if modules not in seen:
                    seen[modules] = frozenset(
                        name for name in allowed if all(each.module in modules for each in NEEDED[name])
                    )
                views.append(self._view(company, month, seen[modules]))
        views.sort(key=attrgetter("rank"))
        totals = {name: _total([each.figures[name] for each in views]) for name in NEEDED}
        names = names_apart([each.company for each in views])
        return Overview(views, names, totals, _late(views, names))

    def _view(self, company: Company, month: str, seen: frozenset[str]) -> View:
        kept, key = self._figures.known.get(company.id), (company.id, seen)
        known = self._views.get(key)
        if known is None or known.kept is not kept or known.company is not company or known.month != month:
            known = self._views[key] = _new_view(company, kept, month, seen)
        return known


def _new_view(company: Company, kept: CompanyFigures | None, month: str, seen: frozenset[str]) -> View:
    values = {} if kept is None else _values(kept, month)
    figures = {name: values.get(name) if name in seen else None for name in NEEDED}
    late = {} if kept is None else {kind: kept.late[kind] for kind, name in LATE.items() if name in seen}
    oldest = min((each.oldest[0].due for each in late.values() if each.oldest), default=NEVER)
    rank = oldest, [-(figures[name] or 0) for name in TROUBLE], company.name.lower()
    return View(company, figures, late, rank, kept, month)


def _values(kept: CompanyFigures, month: str) -> dict[str, int]:
    return {
        "late_orders": kept.late[ORDERS].number,
        "to_load_today": kept.due_today[ORDERS],
        "orders_not_taken": kept.by_status[ORDERS].get("CREAT", 0),
        "orders_in_work": kept.by_status[ORDERS].get("IN_LUCRU", 0),
        "orders_loaded": kept.by_status[ORDERS].get("INCARCAT", 0),
        "late_inbound": kept.late[INBOUND].number,
        "expected_today": kept.due_today[INBOUND],
        "returns_undecided": kept.by_status[RETURNED].get("RECEPTIONAT", 0),
        "counts_to_book": kept.by_status.get(COUNTED, {}).get("IN_LUCRU", 0),
        "given_up": kept.given_up,
        "low": kept.low,
        "events": kept.events if kept.month == month else 0,
    }


def _total(values: list[int | None]) -> int | None:
    """Return the sum of the values that are not None. Return None if all values are None, and 0 if there are no
    values.

    A value is None if the person may not see it, or if it was not read yet.
    """
    known = [each for each in values if each is not None]
    return sum(known) if known or not values else None


def _late(views: Sequence[View], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the oldest late documents of all companies, at most MOST_LATE, the oldest first.

    It is enough to search the first MOST_LATE views, because `views` starts with the companies of the oldest
    documents.
    """
    found = [
        (each.company, kind, document)
        for each in views[:MOST_LATE]
        for kind, late in each.late.items()
        for document in late.oldest
    ]
    return [
        LateToday(
            kind=kind, company_id=company.id, company=names[company.code], **document.model_dump()
        ).model_dump()
        for company, kind, document in sorted(found, key=lambda each: each[2].due)[:MOST_LATE]
    ]
