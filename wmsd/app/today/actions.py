"""Today: all companies of somebody at once, the oldest trouble first."""

from collections.abc import Iterable, Iterator, Mapping
from heapq import nsmallest
from typing import Any, Final, NamedTuple

from wmsd.app.access_cache import AccessCache
from wmsd.app.admission import Admission
from wmsd.app.today.figures import CompanyFigures, Late, LateDocument
from wmsd.app.today.keeping import TodayFigures
from wmsd.app.today.schema import CompanyToday, LateToday, Today, TodayQuery
from wmsd.base.access import needed_ability
from wmsd.base.context import Caller, Company
from wmsd.base.dataclass import dataclass
from wmsd.base.operation import operation
from wmsd.purchase_orders.kind import PURCHASE_ORDERS
from wmsd.returns.kind import RETURNS
from wmsd.sales_orders.kind import SALES_ORDERS

MOST_LATE: Final = 20
"""Of the documents that are late in all companies, the oldest first."""
ORDERS, INBOUND, RETURNED = (kind.table.name for kind in (SALES_ORDERS, PURCHASE_ORDERS, RETURNS))
NEVER: Final = "9999"
"""Comes after every date."""


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
NOTHING_READ: Final[Mapping[str, int | None]] = dict.fromkeys(NEEDED)
LATE: Final = {ORDERS: "late_orders", INBOUND: "late_inbound"}


@dataclass(frozen=True, slots=True)
class TodayService:
    figures: TodayFigures
    access: AccessCache
    admission: Admission


@dataclass(frozen=True, slots=True)
class Seen:
    """A company, with its figures and its late documents by kind, as far as somebody may see them."""

    company: Company
    figures: Mapping[str, int | None]
    late: Mapping[str, Late]

    @property
    def rank(self) -> tuple[str, list[int], str]:
        """The oldest trouble first, then the most of it."""
        oldest = min((late.oldest[0].due for late in self.late.values() if late.oldest), default=NEVER)
        return oldest, [-(self.figures[name] or 0) for name in TROUBLE], self.company.name.lower()


@operation(tag="Sessions", answer="object", returns=Today, scope="platform")
async def get_today(service: TodayService, query: TodayQuery, caller: Caller) -> dict[str, Any]:
    """Get all companies of somebody with what they have to do, the oldest trouble first."""
    month = service.figures.month
    companies = [each for each in (await service.access.companies()).values() if caller.may_use(each.id)]
    seen = sorted((_seen(service, caller, each, month) for each in companies), key=lambda each: each.rank)
    found = [each for each in seen if _is_found(each.company, query.search)]
    shown = found[query.offset : query.offset + query.per_page]
    return {
        "day": service.figures.today,
        "companies": [_shown(service, each).model_dump() for each in shown],
        "companies_in_all": len(found),
        "totals": {name: _total(each.figures[name] for each in seen) for name in NEEDED},
        "late": [_late(*one).model_dump() for one in nsmallest(MOST_LATE, _all_late(seen), key=_by_age)],
    }


def _is_found(company: Company, search: str | None) -> bool:
    return search is None or search.lower() in f"{company.code} {company.name}".lower()


def _total(several: Iterable[int | None]) -> int | None:
    """None where there are companies, and of none of them it may be seen."""
    values = list(several)
    known = [each for each in values if each is not None]
    return sum(known) if known or not values else None


def _all_late(seen: Iterable[Seen]) -> Iterator[tuple[Company, str, LateDocument]]:
    return (
        (each.company, kind, document)
        for each in seen
        for kind, late in each.late.items()
        for document in late.oldest
    )


def _by_age(late: tuple[Company, str, LateDocument]) -> tuple[str, str, int]:
    company, _, document = late
    return document.due, company.name, document.id


def _late(company: Company, kind: str, document: LateDocument) -> LateToday:
    return LateToday(kind=kind, company_id=company.id, company=company.name, **document.model_dump())


def _seen(service: TodayService, caller: Caller, company: Company, month: str) -> Seen:
    kept = service.figures.of(company.id)
    if kept is None:
        return Seen(company, NOTHING_READ, {})
    may = {name: _may(service, caller, company, needed) for name, needed in NEEDED.items()}
    figures = {name: value if may[name] else None for name, value in _values(kept, month).items()}
    return Seen(company, figures, {kind: kept.late[kind] for kind, name in LATE.items() if may[name]})


def _may(service: TodayService, caller: Caller, company: Company, needed: Needed) -> bool:
    ability = needed_ability(needed.ability, service.admission.in_force)
    return ability in caller.abilities and needed.module in company.modules


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


def _shown(service: TodayService, seen: Seen) -> CompanyToday:
    company = seen.company
    requests, limit = service.admission.used(company)
    return CompanyToday(
        id=company.id,
        code=company.code,
        name=company.name,
        sandbox=company.sandbox,
        requests=requests,
        limit=limit,
        **seen.figures,
    )
