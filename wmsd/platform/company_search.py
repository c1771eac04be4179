"""Search in all companies of a person: exact codes, references and tracking numbers, within a limited time."""

from collections.abc import Sequence
from typing import Any, Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.context import Caller, Company
from wmsd.contract.fields import Id, Model
from wmsd.contract.operation import operation
from wmsd.contract.permissions import Permissions
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.company_files import CompanyFiles
from wmsd.dispatch.access_cache import AccessCache
from wmsd.dispatch.admission import Admission
from wmsd.dispatch.limits.costs import Payers
from wmsd.dispatch.limits.work_admission import Turn, WorkAdmission
from wmsd.warehouse.search.hits import Found, find_records
from wmsd.warehouse.search.index_damage import DamagedIndexes
from wmsd.warehouse.search.schema import Hit, SearchQuery

LONGEST: Final = 1.0
"""How many seconds a search may take. After that, no further company is searched."""
MOST_HITS: Final = 50


@dataclass(frozen=True, slots=True)
class CompanySearchService:
    files: CompanyFiles
    access: AccessCache
    admission: Admission
    work: WorkAdmission
    clock: Clock


class CompanyHit(Hit):
    company_id: Id
    company: str


class SearchInAll(Model):
    data: list[CompanyHit]
    not_searched: list[str]
    """The names of companies that were not searched. The search took too long, or the company's file or search
    index cannot be read now.
    """


@operation(tag="Sessions", answer="object", returns=SearchInAll, scope="platform")
async def search_companies(service: CompanySearchService, query: SearchQuery, caller: Caller) -> dict[str, Any]:
    """Find records in all companies.

    The answer has the records with exactly this code, reference or tracking number, from all companies of the
    caller.
    """
    companies = [
        each
        for each in (await service.access.companies()).values()
        if caller.may_use(each.id) and each.suspended_at is None
    ]
    companies.sort(key=lambda each: not service.files.is_open(each.id))  # companies in use come first
    async with service.work.turn("search in all companies", Payers(person=str(caller.actor.user_id))) as turn:
        hits, not_searched = await _search(service, companies, query.text, caller, turn)
    return {"data": hits[:MOST_HITS], "not_searched": not_searched}


async def _search(
    service: CompanySearchService, companies: Sequence[Company], text: str, caller: Caller, turn: Turn
) -> tuple[list[dict[str, Any]], list[str]]:
    until, hits, not_searched = service.clock.monotonic() + LONGEST, list[dict[str, Any]](), list[str]()
    for company in companies:
        if service.clock.monotonic() >= until:
            not_searched.append(company.name)
            continue
        began = service.clock.monotonic()
        found = await _found(service, company, text, caller)
        await turn.pay(service.clock.monotonic() - began)
        if found is None:
            not_searched.append(company.name)
        else:
            own = {"company_id": company.id, "company": company.name}
            hits.extend({**each.model_dump(), **own} for each in found.hits)
    return hits, not_searched


async def _found(service: CompanySearchService, company: Company, text: str, caller: Caller) -> Found | None:
    """Search one company for `text`. Return the found records that the caller may list, or None if the company's
    file or search index cannot be read now.
    """
    in_force = service.admission.in_force
    permissions = Permissions(caller.role, caller.abilities, in_force, company.modules)

    def find(tx: Transaction) -> Found | None:
        found = find_records(tx, permissions, text, is_exact=True)
        if found.is_damaged:
            tx.service(DamagedIndexes).note(company.id)
            return None
        return found

    try:
        async with service.files.visiting(company.id) as database:
            return await database.search(find)
    except (Problem, *STORAGE_FAILURES):
        return None
