"""The checks of a company's move to another installation.

They compare the data that an export does not contain, such as users and tokens. They also check that the company
is complete in the new installation.
"""

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
"""The tables whose records the API can count too. The value is the API path of the list."""
COUNTED: Final = (*LISTED, "clients", "partners", "warehouses", "stock_movements", "packaging_movements")


class User(NamedTuple):
    email: str
    role: str
    abilities: list[str]
    """The abilities of a member. Empty for the other roles, whose abilities depend on the role alone."""
    has_company: bool
    """Whether the company was assigned to the user. Platform admins may use every company, even if it is not
    assigned to them.
    """

    @property
    def may_use(self) -> bool:
        return self.has_company or self.role == "platform-admin"


class Site(NamedTuple):
    warehouse: str
    name: str


class Standing(NamedTuple):
    """The state of the company in one of the two installations, for the checks of a move.

    Users, tokens, sites and requests come from platform.db and are not part of an export. The other fields come
    from the company's file.
    """

    company: Company
    users: list[User]
    tokens: int
    """How many tokens give access to the company now."""
    sites: list[Site]
    requests: int
    """How many API requests for the company have been counted."""
    last_event: str | None
    knows_event: bool
    """Whether the company has the event that the caller of `company_state` asked for. True if the caller asked for
    no event.
    """
    counts: dict[str, int]
    """The number of records, by table."""
    webhooks: dict[int, str]
    """The names of the active webhooks, by id."""


async def company_state(installation: Installation, code: str, event: str | None = None) -> Standing:
    """Read the state of the company. `event` is the id of an event, to find out whether the company has this
    event.

    Raise Problem (404) if the company does not exist, and Problem (503) if its file cannot be used.
    """
    company = await installation.platform.read(lambda tx: actions.company_of_code(tx, code))
    database = await installation.files.get(company.id)
    in_file = await database.read_long(lambda tx: _in_file(tx, event))  # counts whole tables
    return Standing(company, *await installation.platform.read(lambda tx: _on_platform(tx, company.id)), *in_file)


def _on_platform(tx: Transaction, company_id: int) -> tuple[list[User], int, list[Site], int]:
    """Return the company's users, number of tokens, sites and number of requests."""
    values = {"company": company_id, "now": tx.timestamp}
    users = [
        User(email, role, json.loads(abilities) if role == "member" else [], bool(has))
        for email, role, abilities, has in tx.rows(USERS, values)
    ]
    sites = [Site(*row) for row in tx.rows(SITES, values)]
    return users, tx.value(TOKENS, values), sites, tx.value(REQUESTS, values)


def _in_file(tx: Transaction, event: str | None) -> tuple[str | None, bool, dict[str, int], dict[int, str]]:
    """Return the id of the last event, whether `event` exists, the counts and the webhooks."""
    knows_event = event is None or bool(tx.value("SELECT count(*) FROM events WHERE id = ?", (event,)))
    counts = {table: tx.value(f"SELECT count(*) FROM {table}") for table in COUNTED}
    return tx.value(LAST_EVENT), knows_event, counts, dict(tx.rows(WEBHOOKS))


async def came_here(installation: Installation, origin: str) -> list[str]:
    """Return the codes of the companies that were imported from the company `origin`, the last import last."""
    return await installation.platform.read(lambda tx: store.came_from(tx, origin))
