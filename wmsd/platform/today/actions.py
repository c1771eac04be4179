"""The operation of Today: all companies of the caller, those with the oldest problems first."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.letters import plain
from wmsd.contract.access import has_role
from wmsd.contract.context import Caller
from wmsd.contract.operation import operation
from wmsd.dispatch.admission import Admission
from wmsd.platform.today.overviews import NEEDED, Overviews, View
from wmsd.platform.today.schema import Today, TodayQuery
from wmsd.server.figures.schema import CostFigures, PayerFigures
from wmsd.server.today.kept_figures import Days, TodayFigures
from wmsd.server.today.quota_watch import QuotaWatch

WORTH_TELLING: Final = 0.1
"""The smallest processor use for which a company or a person is listed under `costs`. 1 is a whole processor."""


@dataclass(frozen=True, slots=True)
class TodayService:
    figures: TodayFigures
    overviews: Overviews
    admission: Admission
    rooms: QuotaWatch
    costs: Callable[[], Awaitable[CostFigures]]


@operation(tag="Sessions", answer="object", returns=Today, scope="platform")
async def get_today(service: TodayService, query: TodayQuery, caller: Caller) -> dict[str, Any]:
    """Get the companies of Today.

    The answer has all companies of the caller with their open work. The companies with the oldest problems come
    first.
    """
    overview = await service.overviews.of(caller.company_ids, _allowed(service, caller))
    views = overview.views
    search = plain(query.search or "")
    fits = (each for each in views if search in plain(f"{each.company.code} {each.company.name}"))
    found = list(fits) if search else views
    days = service.figures.days()
    shown = found[query.offset : query.offset + query.per_page]
    return {
        "day": service.figures.today,
        "companies": [_shown(service, each, overview.names, days) for each in shown],
        "companies_in_all": len(found),
        "totals": overview.totals,
        "late": overview.late,
        "costs": [each.model_dump() for each in await _costs(service, caller)],
    }


async def _costs(service: TodayService, caller: Caller) -> list[PayerFigures]:
    """Return the companies and people whose processor use is high now.

    Return an empty list unless the caller is a platform admin who may use all companies.
    """
    if caller.role is None or not has_role(caller.role, "platform-admin") or caller.company_ids is not None:
        return []
    found = await service.costs()
    return [each for each in (*found.companies, *found.people) if each.lately >= WORTH_TELLING]


def _allowed(service: TodayService, caller: Caller) -> frozenset[str]:
    """Return the names of the figures, such as `late_orders`, that the caller's abilities allow."""
    return frozenset(
        name for name, needed in NEEDED.items() if all(each.ability in caller.abilities for each in needed)
    )


def _shown(service: TodayService, view: View, names: Mapping[str, str], days: Days) -> dict[str, Any]:
    company = view.company
    requests, limit = service.admission.used(company)
    filling = service.rooms.near.get(company.id)
    return {
        "id": company.id,
        "code": company.code,
        "name": names[company.code],
        "day": days[company.time_zone],
        "sandbox": company.sandbox,
        "frozen_at": company.frozen_at,
        "suspended_at": company.suspended_at,
        "storage_percent": filling and filling.percent,
        **view.figures,
        "requests": requests,
        "limit": limit,
    }
