"""The SQL of sites."""

from typing import Any, Final

from wmsd.contract.context import Actor, Caller, TransportSite
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.keys.bearers import Bearer, bearer_of

COLUMNS: Final = "id, name, company_id, warehouse_id, warehouse_code"
BEARERS: Final = f"""
    SELECT token_hash, NULL, {COLUMNS} FROM sites WHERE token_hash IS NOT NULL
    UNION ALL
    SELECT previous_token_hash, previous_expires_at, {COLUMNS} FROM sites WHERE previous_token_hash IS NOT NULL
"""


def bearers(tx: Transaction) -> list[Bearer[TransportSite]]:
    """Return every stored bearer token, including replaced ones, which may have expired."""
    return [
        bearer_of(token_hash.hex(), expires_at, TransportSite(*site))
        for token_hash, expires_at, *site in tx.rows(BEARERS)
    ]


def caller_of_site(site: TransportSite) -> Caller:
    """Return the caller for a request with the site's bearer token. This caller may use the site's company, but
    has no abilities.
    """
    return Caller(Actor(f"site {site.name}"), frozenset(), frozenset({site.company_id}), site=site)


ONE: Final = f"SELECT {COLUMNS} FROM sites WHERE company_id = ? AND warehouse_code = ?"


def of_warehouse(tx: Transaction, company_id: int, warehouse_code: str) -> TransportSite | None:
    found = tx.row(ONE, (company_id, warehouse_code))
    return None if found is None else TransportSite(*found)


WAREHOUSES_OF: Final = "SELECT warehouse_id FROM sites WHERE company_id = ?"


def warehouses_of(tx: Transaction, company_id: int) -> list[int]:
    """Return the ids of the company's warehouses that are sites."""
    return [warehouse_id for (warehouse_id,) in tx.rows(WAREHOUSES_OF, (company_id,))]


ROTATE: Final = """
    UPDATE sites SET token_hash = :token_hash,
        previous_token_hash = iif(:until IS NULL, NULL, token_hash),
        previous_expires_at = iif(token_hash IS NULL, NULL, :until),
        updated_at = :now
    WHERE id = :id
"""
REVOKE: Final = """
    UPDATE sites SET token_hash = NULL, previous_token_hash = NULL, previous_expires_at = NULL, updated_at = ?
    WHERE id = ? AND token_hash IS NOT NULL
"""


def rotate(tx: Transaction, site_id: int, token_hash: str, until: str | None) -> None:
    """Replace the bearer token. The previous token becomes invalid at the time `until`, or now if `until` is None.
    Older tokens become invalid now.
    """
    tx.execute(
        ROTATE, {"id": site_id, "token_hash": bytes.fromhex(token_hash), "until": until, "now": tx.timestamp}
    )


def revoke(tx: Transaction, site_id: int) -> bool:
    """Revoke the site's bearer tokens. Return True if the site had a token."""
    return tx.execute(REVOKE, (tx.timestamp, site_id)).rowcount > 0


BY_ID: Final = f"SELECT {COLUMNS} FROM sites WHERE id = ?"


def of_id(tx: Transaction, site_id: int) -> TransportSite | None:
    found = tx.row(BY_ID, (site_id,))
    return None if found is None else TransportSite(*found)


LIST: Final = """
    SELECT sites.id, companies.code AS company, sites.warehouse_code AS warehouse, sites.name,
        iif(sites.token_hash IS NULL, 'revoked', 'active') AS status,
        iif(sites.previous_expires_at > ?, sites.previous_expires_at, NULL) AS previous_token_until,
        sites.created_at, sites.updated_at
    FROM sites JOIN companies ON companies.id = sites.company_id ORDER BY sites.id
"""


def sites(tx: Transaction) -> list[dict[str, Any]]:
    """Return the sites for the command line, without their tokens. Each site has the status of its token, and the
    time until which its previous token is still valid.
    """
    return tx.records(LIST, (tx.timestamp,))
