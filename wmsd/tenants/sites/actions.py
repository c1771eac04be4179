"""The use cases of sites and their bearer tokens, for the command line and for the pages of platform admins. A
bearer token is shown only once, and only its hash is stored.
"""

from typing import Any, Final

from wmsd.base.problems import Problem, invalid, or_not_found
from wmsd.contract.context import TransportSite
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import insert_row
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.actions import company_of_code
from wmsd.tenants.companies.record_lists import NOW, filters_at_present, for_platform_admins, record_list
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.keys.bearers import Replacement, end_of_replaced, secret_hash
from wmsd.tenants.sites import store
from wmsd.tenants.sites.schema import MadeBearer, NewSite, SiteFilters, SiteRecord

PREFIX: Final = "wmsds_"
NEEDED_MODULES: Final = ("api", "outbound")
"""The modules that the site's company needs. If one of them is off, a bearer token of the site gives no access."""


def create_site(
    tx: Transaction, company_code: str, warehouse_id: int, warehouse_code: str, new: NewSite
) -> tuple[int, str]:
    """Create a site, and return its id and bearer token. Raise Problem (422) if the warehouse already has a site.

    The caller must check that the warehouse belongs to the company.
    """
    company = company_of_code(tx, company_code)
    if store.of_warehouse(tx, company.id, warehouse_code) is not None:
        raise invalid(
            {"warehouse": [f"{warehouse_code} already has a site: run wmsd site rotate for a new token"]}
        )
    token = PREFIX + tx.ids.secret()
    columns = {
        "company_id": company.id,
        "warehouse_id": warehouse_id,
        "warehouse_code": warehouse_code,
        "name": new.name,
        "token_hash": bytes.fromhex(secret_hash(token)),
    }
    site_id = insert_row(tx, "sites", columns)
    companies.write_audit(tx, "site.create", f"{company_code} {warehouse_code}")
    return site_id, token


def site_of_warehouse(tx: Transaction, company_code: str, warehouse_code: str) -> TransportSite:
    """Return the site of a warehouse. Raise Problem (404) if the warehouse has no site."""
    site = store.of_warehouse(tx, company_of_code(tx, company_code).id, warehouse_code)
    if site is None:
        raise Problem(
            "NOT_FOUND",
            (
                f"The company {company_code} has no site for the warehouse "
                f"{warehouse_code}. To list all sites: wmsd site list"
            ),
        )
    return site


def rotate_site(tx: Transaction, site: TransportSite, at_once: bool) -> tuple[int, str]:
    """Replace the bearer token. Return the site's id and the new token. The previous token becomes invalid after
    24 hours, or immediately if `at_once` is true.
    """
    token = PREFIX + tx.ids.secret()
    store.rotate(tx, site.id, secret_hash(token), None if at_once else end_of_replaced(tx))
    _audit(tx, "site.rotate at once" if at_once else "site.rotate", site)
    return site.id, token


def revoke_site(tx: Transaction, site: TransportSite) -> bool:
    """Revoke the site's bearer tokens. Return True if the site had a token.

    The site is not deleted, and `rotate_site` can create a new token for it.
    """
    revoked = store.revoke(tx, site.id)
    _audit(tx, "site.revoke", site)
    return revoked


def _audit(tx: Transaction, action: str, site: TransportSite) -> None:
    companies.write_audit(tx, action, f"{companies.codes(tx)[site.company_id]} {site.warehouse_code}")


COMPANY_CODE: Final = "(SELECT companies.code FROM companies WHERE companies.id = sites.company_id)"
STATUS: Final = "iif(token_hash IS NULL, 'revoked', 'active')"
SITES: Final = record_list(
    "site_records",
    "List the sites of all companies.",
    "sites",
    for_platform_admins,
    SiteRecord,
    SiteFilters,
    noun="site",
    columns={
        "company_code": COMPANY_CODE,
        "status": STATUS,
        "previous_token_until": f"iif(previous_expires_at > :{NOW}, previous_expires_at, NULL)",
    },
    conditions_of={"company_code": f"{COMPANY_CODE} = :company_code", "status": f"{STATUS} = :status"},
    filters=filters_at_present,
    orders=("id", "name"),
)


@for_platform_admins(answer="record", returns=SiteRecord)
def get_site_record(tx: Transaction, id: int) -> Record:
    """Get a site, without its bearer token."""
    return SITES.one(tx, id)


@for_platform_admins(answer="object", returns=MadeBearer, writes=True)
def renew_site_bearer(tx: Transaction, id: int, body: Replacement) -> dict[str, Any]:
    """Create a new bearer token for a site.

    The token is shown only once.
    """
    _, token = rotate_site(tx, _site(tx, id), body.at_once)
    return new_bearer(tx, id, token)


@for_platform_admins(answer="object", returns=Message, writes=True)
def revoke_site_bearer(tx: Transaction, id: int) -> dict[str, Any]:
    """Revoke all bearer tokens of a site.

    The tokens are refused from the next request on.
    """
    revoke_site(tx, _site(tx, id))
    return {"message": "The site's bearer token is revoked."}


def _site(tx: Transaction, site_id: int) -> TransportSite:
    return or_not_found(store.of_id(tx, site_id), "site")


def new_bearer(tx: Transaction, site_id: int, token: str) -> dict[str, Any]:
    """Return the fields of `MadeBearer` for the new bearer token of a site. Raise Problem (404) if there is no
    such site.
    """
    site = _site(tx, site_id)
    served = next((each for each in companies.companies(tx) if each.id == site.company_id), None)
    company = or_not_found(served, "site")  # a company that is being deleted is not listed
    return {
        "id": site.id,
        "name": site.name,
        "company_code": company.code,
        "warehouse_code": site.warehouse_code,
        "token": token,
        "modules_off": [module for module in NEEDED_MODULES if module not in company.modules],
    }
