"""Sites and their bearers at the pages of platform admins."""

from functools import partial
from typing import Any, Final

from wmsd.base.problems import not_found
from wmsd.contract.context import TransportSite
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.sites import actions, store
from wmsd.tenants.sites.rules import NEEDED_MODULES
from wmsd.tenants.sites.schema import (
    MadeBearer,
    NewBearer,
    SiteCursorQuery,
    SiteFilters,
    SiteQuery,
    SiteRecord,
)

for_platform_admins = partial(operation, tag="Administration", scope="installation", role="platform-admin")
NOW: Final = "now"
"""A parameter of each record, and so a filter that no caller sends."""
COMPANY_CODE: Final = "(SELECT companies.code FROM companies WHERE companies.id = sites.company_id)"
STATUS: Final = "iif(token_hash IS NULL, 'revoked', 'active')"
SITE: Final = record_sql(
    SiteRecord,
    {
        "company_code": COMPANY_CODE,
        "status": STATUS,
        "previous_token_until": f"iif(previous_expires_at > :{NOW}, previous_expires_at, NULL)",
    },
)
SITES: Final = Listing(
    "sites",
    "id",
    conditions(SiteFilters, company_code=f"{COMPANY_CODE} = :company_code", status=f"{STATUS} = :status")
    | {NOW: f"(:{NOW} IS NOT NULL)"},
    "",
)


@for_platform_admins(answer="page", returns=SiteRecord)
def list_site_records(tx: Transaction, query: SiteQuery) -> Page:
    """List the sites of all companies."""
    return SITES.page(tx, SITE, query, query.filters() | {NOW: tx.timestamp})


@for_platform_admins(answer="cursor", returns=SiteRecord)
def walk_site_records(tx: Transaction, query: SiteCursorQuery, position: int) -> CursorPage:
    """List them by cursor."""
    return SITES.after(tx, SITE, query, position, query.filters() | {NOW: tx.timestamp})


@for_platform_admins(answer="record", returns=SiteRecord)
def get_site_record(tx: Transaction, id: int) -> Record:
    """Get a site, without its bearer."""
    text = tx.value(f"SELECT {SITE} FROM sites WHERE id = :id", {"id": id, NOW: tx.timestamp})
    if text is None:
        raise not_found("site")
    return Record(id, text)


@for_platform_admins(answer="object", returns=MadeBearer, writes=True)
def renew_site_bearer(tx: Transaction, id: int, body: NewBearer) -> dict[str, Any]:
    """Give a site a new bearer. It is shown only this once."""
    site = _site(tx, id)
    _, token = actions.rotate_site(tx, _code_of(tx, site), site.warehouse_code, body.at_once)
    return new_bearer(tx, id, token)


@for_platform_admins(answer="object", returns=Message, writes=True)
def revoke_site_bearer(tx: Transaction, id: int) -> dict[str, Any]:
    """End all bearers of a site. They are refused from the next request on."""
    site = _site(tx, id)
    actions.revoke_site(tx, _code_of(tx, site), site.warehouse_code)
    return {"message": "The site's bearer is revoked."}


def _site(tx: Transaction, site_id: int) -> TransportSite:
    site = store.of_id(tx, site_id)
    if site is None:
        raise not_found("site")
    return site


def _code_of(tx: Transaction, site: TransportSite) -> str:
    return companies.codes(tx)[site.company_id]


def new_bearer(tx: Transaction, site_id: int, token: str) -> dict[str, Any]:
    """A new bearer, as MadeBearer shows it."""
    site = _site(tx, site_id)
    company = next(each for each in companies.companies(tx) if each.id == site.company_id)
    return {
        "id": site.id,
        "name": site.name,
        "company_code": company.code,
        "warehouse_code": site.warehouse_code,
        "token": token,
        "modules_off": [module for module in NEEDED_MODULES if module not in company.modules],
    }
