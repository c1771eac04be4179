"""All companies of somebody in order, with their sums. Each overview is worked out once for all who may see the
same, and holds until a company or its figures change: with 1 000 companies, Today answers nearly as soon as with
ten.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Company
from wmsd.dispatch.access_cache import AccessCache
from wmsd.platform.today.schema import LateToday
from wmsd.platform.today.visible_figures import NEEDED, View, Views
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.tenants.companies.unknown_codes import names_apart

MOST_LATE: Final = 20
"""Of the documents that are late in all companies, the oldest first."""
MOST_KEPT: Final = 32
"""Overviews, each for all who may see the same."""


@dataclass(frozen=True, slots=True)
class Overview:
    """`views` begin with the oldest trouble. `names` are those of the companies, by their codes."""

    views: Sequence[View]
    names: Mapping[str, str]
    totals: Mapping[str, int | None]
    late: Sequence[Mapping[str, Any]]


class Overviews:
    def __init__(self, figures: TodayFigures, access: AccessCache) -> None:
        self._figures = figures
        self._access = access
        self._views = Views()
        self._known: dict[tuple[frozenset[int] | None, frozenset[str]], Overview] = {}
        self._companies: Mapping[int, Company] = {}
        self._state: tuple[int, str] | None = None
        """The version of the figures and the month in which the overviews were worked out."""

    async def of(self, company_ids: frozenset[int] | None, allowed: frozenset[str]) -> Overview:
        """Of these companies, or of all. `allowed` are the names of the figures that the abilities allow."""
        companies, state = await self._access.companies(), (self._figures.version, self._figures.month)
        if companies is not self._companies or state != self._state:
            self._companies, self._state = companies, state
            self._known.clear()
            self._views.forget_others(companies)
        key = company_ids, allowed
        found = self._known.pop(key, None) or self._overview(company_ids, allowed)
        self._known[key] = found
        if len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]  # the longest unused
        return found

    def _overview(self, company_ids: frozenset[int] | None, allowed: frozenset[str]) -> Overview:
        month, views, seen = self._figures.month, [], dict[frozenset[str], frozenset[str]]()
        for company in self._companies.values():
            if company_ids is None or company.id in company_ids:
                modules = company.modules
                if modules not in seen:
                    seen[modules] = frozenset(name for name in allowed if NEEDED[name].module in modules)
                views.append(self._views.of(company, self._figures.known.get(company.id), month, seen[modules]))
        views.sort(key=attrgetter("rank"))
        totals = {name: _total([each.figures[name] for each in views]) for name in NEEDED}
        names = names_apart([each.company for each in views])
        return Overview(views, names, totals, _late(views, names))


def _total(values: list[int | None]) -> int | None:
    """None where there are companies, and of none of them it may be seen."""
    known = [each for each in values if each is not None]
    return sum(known) if known or not values else None


def _late(views: Sequence[View], names: Mapping[str, str]) -> list[dict[str, Any]]:
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
        LateToday(
            kind=kind, company_id=company.id, company=names[company.code], **document.model_dump()
        ).model_dump()
        for company, kind, document in sorted(found, key=lambda each: each[2].due)[:MOST_LATE]
    ]
