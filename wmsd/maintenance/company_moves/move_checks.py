"""A company that moves: what its export leaves behind, and whether all of that is at its new home."""

import json
from typing import Final, NamedTuple

from wmsd.contract.context import Company
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.tenants.companies import actions, store

USERS: Final = """
    SELECT users.email, users.role, users.abilities,
        users.id IN (SELECT user_id FROM user_companies WHERE company_id = :company)
    FROM users WHERE users.disabled_at IS NULL ORDER BY users.email
"""
TOKENS: Final = """
    SELECT count(*) FROM tokens JOIN users ON users.id = tokens.user_id
    WHERE tokens.revoked_at IS NULL AND tokens.expires_at > :now AND users.disabled_at IS NULL
        AND (tokens.company_ids IS NULL
            OR EXISTS (SELECT 1 FROM json_each(tokens.company_ids) WHERE value = :company))
        AND (users.role = 'platform-admin'
            OR users.id IN (SELECT user_id FROM user_companies WHERE company_id = :company))
"""
SITES: Final = """
    SELECT warehouse_code, name FROM sites WHERE company_id = :company AND token_hash IS NOT NULL
    ORDER BY warehouse_code
"""
REQUESTS: Final = "SELECT coalesce(max(requests), 0) FROM request_counts WHERE company_id = :company"
LAST_EVENT: Final = "SELECT id FROM events ORDER BY sequence DESC LIMIT 1"
WEBHOOKS: Final = "SELECT id, name FROM webhook_subscriptions WHERE active ORDER BY id"
LISTED: Final = {
    "articles": "/api/articles",
    "sales_orders": "/api/sales-orders",
    "purchase_orders": "/api/purchase-orders",
    "receptions": "/api/receptions",
    "returns": "/api/returns",
}
"""The tables whose records the API counts too, and the address of the list."""
COUNTED: Final = (*LISTED, "clients", "partners", "warehouses", "stock_movements", "packaging_movements")


class User(NamedTuple):
    email: str
    role: str
    abilities: list[str]
    """Of a member; the others may do what their role says."""
    has_company: bool
    """Whether the company was given to the user. A platform admin may use every company."""

    @property
    def may_use(self) -> bool:
        return self.has_company or self.role == "platform-admin"


class Site(NamedTuple):
    warehouse: str
    name: str


class Standing(NamedTuple):
    """The company in one of the two installations, as far as a move is checked by it. No export holds users,
    tokens, sites and requests; the rest is in the company's file.
    """

    company: Company
    users: list[User]
    tokens: int
    """How many open the company now."""
    sites: list[Site]
    requests: int
    """How many requests of programs have named the company."""
    last_event: str | None
    knows_event: bool
    """Whether it has the event that was asked for."""
    counts: dict[str, int]
    """By table."""
    webhooks: dict[int, str]
    """Those that are on: their names, by id."""


async def company_state(installation: Installation, code: str, event: str | None = None) -> Standing:
    """`event`: the id of one that the company should have. Raises Problem (404, 503)."""
    company = await installation.platform.read(lambda tx: actions.company_of_code(tx, code))
    database = await installation.files.get(company.id)
    in_file = await database.read_long(lambda tx: _in_file(tx, event))  # it counts whole tables
    return Standing(company, *await installation.platform.read(lambda tx: _on_platform(tx, company.id)), *in_file)


def _on_platform(tx: Transaction, company_id: int) -> tuple[list[User], int, list[Site], int]:
    """Users, tokens, sites and requests."""
    values = {"company": company_id, "now": tx.timestamp}
    users = [
        User(email, role, json.loads(abilities) if role == "member" else [], bool(has))
        for email, role, abilities, has in tx.rows(USERS, values)
    ]
    sites = [Site(*row) for row in tx.rows(SITES, values)]
    return users, tx.value(TOKENS, values), sites, tx.value(REQUESTS, values)


def _in_file(tx: Transaction, event: str | None) -> tuple[str | None, bool, dict[str, int], dict[int, str]]:
    """The last event, whether the given one is known, counts and webhooks."""
    knows_event = event is None or bool(tx.value("SELECT count(*) FROM events WHERE id = ?", (event,)))
    counts = {table: tx.value(f"SELECT count(*) FROM {table}") for table in COUNTED}
    return tx.value(LAST_EVENT), knows_event, counts, dict(tx.rows(WEBHOOKS))


async def came_here(installation: Installation, origin: str) -> list[str]:
    """The codes of what was imported of this company, the last import last."""
    return await installation.platform.read(lambda tx: store.came_from(tx, origin))
