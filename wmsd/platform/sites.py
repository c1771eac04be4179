"""Creates sites. A site is stored in `platform.db`, but its warehouse is in the file of the company."""

from dataclasses import replace
from typing import Any

from wmsd.base.problems import Problem, invalid
from wmsd.contract.context import Caller, Company, FromAddress
from wmsd.db.engine.transaction import Transaction
from wmsd.platform.company_policies import CompanyFilesService
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.record_lists import for_platform_admins
from wmsd.tenants.companies.unknown_codes import company_named
from wmsd.tenants.sites import actions, store
from wmsd.tenants.sites.schema import MadeBearer, NewSite, SiteToMake
from wmsd.warehouse.directory.store import WAREHOUSES, by_code
from wmsd.warehouse.similar_codes import no_such


def active_warehouse(tx: Transaction, code: str) -> int:
    """Return the id of the active warehouse with this code. `tx` is a transaction of the company's file.

    Raise Problem: 404 if no warehouse has this code, 422 if the warehouse is not active.
    """
    found = by_code(tx, WAREHOUSES, code)
    if found is None:
        raise no_such(tx, WAREHOUSES.noun, WAREHOUSES.table, code)
    if not found["active"]:
        raise invalid({"warehouse": [f"{code} is not active"]})
    return int(found["id"])


@for_platform_admins(answer="object", returns=MadeBearer, codes=("SERVICE_UNAVAILABLE",))
async def make_site(
    service: CompanyFilesService, body: SiteToMake, caller: Caller, call: FromAddress
) -> dict[str, Any]:
    """Create a site.

    A site belongs to a warehouse. The answer shows the site's bearer token only this once.
    """
    company = await service.platform.read(
        lambda tx: company_named(body.company_code, companies.companies(tx), "company_code")
    )
    database = await service.files.get(company.id)
    warehouse_id = await database.read(lambda tx: _warehouse(tx, body, company))

    def make(tx: Transaction) -> dict[str, Any]:
        if store.of_warehouse(tx, company.id, body.warehouse_code) is not None:
            sentence = f"{body.warehouse_code} already has a site; create a new bearer token for that site instead"
            raise invalid({"warehouse_code": [sentence]})
        site_id, token = actions.create_site(
            tx, company.code, warehouse_id, body.warehouse_code, NewSite(name=body.name)
        )
        return actions.new_bearer(tx, site_id, token)

    return await service.platform.write(make, replace(caller.actor, address=call.address))


def _warehouse(tx: Transaction, body: SiteToMake, company: Company) -> int:
    try:
        return active_warehouse(tx, body.warehouse_code)
    except Problem as problem:
        unknown = [f"{body.warehouse_code} is not a warehouse of {company.code}"]
        raise invalid({"warehouse_code": problem.errors.get("warehouse", unknown)}) from None
