"""The use cases of sites, from the command line. A token is shown once; only its hash is stored."""

from wmsd.base import timestamps
from wmsd.base.problems import invalid, not_found
from wmsd.contract.context import TransportSite
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.actions import company_of_code
from wmsd.tenants.sites import store
from wmsd.tenants.sites.rules import KEPT, PREFIX, hash_of
from wmsd.tenants.sites.schema import NewSite


def create_site(
    tx: Transaction, company_code: str, warehouse_id: int, warehouse_code: str, new: NewSite
) -> tuple[int, str]:
    """Creates a site, and answers its id and token. The caller has checked that the warehouse is one of the
    company's.

    Raises Problem (422) when the warehouse has a site already.
    """
    company = company_of_code(tx, company_code)
    if store.of_warehouse(tx, company.id, warehouse_code) is not None:
        raise invalid(
            {"warehouse": [f"{warehouse_code} has a site already: wmsd site rotate gives it a new token"]}
        )
    token = _new_token(tx)
    site_id = store.insert(
        tx,
        company_id=company.id,
        warehouse_id=warehouse_id,
        warehouse_code=warehouse_code,
        name=new.name,
        token_hash=hash_of(token),
    )
    companies.write_audit(tx, "site.create", f"{company_code} {warehouse_code}")
    return site_id, token


def rotate_site(tx: Transaction, company_code: str, warehouse_code: str, at_once: bool) -> tuple[int, str]:
    """Replaces the token, and answers the site's id and the new token. The previous one stays valid for another 24
    hours, unless `at_once`.
    """
    site = _site(tx, company_code, warehouse_code)
    token = _new_token(tx)
    until = None if at_once else timestamps.to_text(tx.now + KEPT)
    store.rotate(tx, site.id, hash_of(token), until)
    companies.write_audit(
        tx, "site.rotate at once" if at_once else "site.rotate", f"{company_code} {warehouse_code}"
    )
    return site.id, token


def revoke_site(tx: Transaction, company_code: str, warehouse_code: str) -> bool:
    """Ends the site's tokens; answers whether there were any. The site stays, and `rotate_site` gives it a new
    one.
    """
    site = _site(tx, company_code, warehouse_code)
    revoked = store.revoke(tx, site.id)
    companies.write_audit(tx, "site.revoke", f"{company_code} {warehouse_code}")
    return revoked


def _site(tx: Transaction, company_code: str, warehouse_code: str) -> TransportSite:
    site = store.of_warehouse(tx, company_of_code(tx, company_code).id, warehouse_code)
    if site is None:
        raise not_found(f"site of {company_code} as {warehouse_code}")
    return site


def _new_token(tx: Transaction) -> str:
    return PREFIX + tx.ids.secret()
