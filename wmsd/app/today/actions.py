"""Today: all companies of somebody at once, the oldest trouble first."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from wmsd.app.access_cache import AccessCache
from wmsd.app.admission import Admission
from wmsd.app.today.keeping import TodayFigures
from wmsd.app.today.schema import CompanyToday, LateToday, Today, TodayQuery
from wmsd.app.today.views import NEEDED, Needed, View, Views
from wmsd.base.access import needed_ability
from wmsd.base.context import Caller, Company
from wmsd.base.dataclass import dataclass
from wmsd.base.operation import operation

MOST_LATE: Final = 20
"""Of the documents that are late in all companies, the oldest first."""


@dataclass(frozen=True, slots=True)
class TodayService:
    figures: TodayFigures
    access: AccessCache
    admission: Admission
    views: Views


@operation(tag="Sessions", answer="object", returns=Today, scope="platform")
async def get_today(service: TodayService, query: TodayQuery, caller: Caller) -> dict[str, Any]:
    """Get all companies of somebody with what they have to do, the oldest trouble first."""
    companies = await service.access.companies()
    service.views.forget_others(companies)
    views = sorted(_views(service, caller, companies.values()), key=attrgetter("rank"))
    found = views if query.search is None else [each for each in views if _is_found(each.company, query.search)]
    shown = found[query.offset : query.offset + query.per_page]
    return {
        "day": service.figures.today,
        "companies": [_shown(service, each).model_dump() for each in shown],
        "companies_in_all": len(found),
        "totals": {name: _total([each.figures[name] for each in views]) for name in NEEDED},
        "late": [each.model_dump() for each in _late(views)],
    }


def _views(service: TodayService, caller: Caller, companies: Iterable[Company]) -> Iterator[View]:
    of, kept, month = service.views.of, service.figures.of, service.figures.month
    allowed = {name: each for name, each in NEEDED.items() if _may(service, caller, each)}
    seen: dict[frozenset[str], frozenset[str]] = {}
    for company in companies:
        if caller.may_use(company.id):
            modules = company.modules
            if modules not in seen:
                seen[modules] = frozenset(name for name, each in allowed.items() if each.module in modules)
            yield of(company, kept(company.id), month, seen[modules])


def _may(service: TodayService, caller: Caller, needed: Needed) -> bool:
    return needed_ability(needed.ability, service.admission.in_force) in caller.abilities


def _is_found(company: Company, search: str) -> bool:
    return search.lower() in f"{company.code} {company.name}".lower()


def _total(values: list[int | None]) -> int | None:
    """None where there are companies, and of none of them it may be seen."""
    known = [each for each in values if each is not None]
    return sum(known) if known or not values else None


def _late(views: Sequence[View]) -> list[LateToday]:
    """The oldest documents, and of one day those of the companies that come first. Each is of one of as many
    companies as are told, because `views` begins with the companies of the oldest.
    """
    found = [
        (each.company, kind, document)
        for each in views[:MOST_LATE]
        for kind, late in each.late.items()
        for document in late.oldest
    ]
    return [
        LateToday(kind=kind, company_id=company.id, company=company.name, **document.model_dump())
        for company, kind, document in sorted(found, key=lambda each: each[2].due)[:MOST_LATE]
    ]


def _shown(service: TodayService, view: View) -> CompanyToday:
    company = view.company
    requests, limit = service.admission.used(company)
    return CompanyToday(
        id=company.id,
        code=company.code,
        name=company.name,
        sandbox=company.sandbox,
        requests=requests,
        limit=limit,
        **view.figures,
    )
