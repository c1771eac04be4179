"""The end of a company, step by step: it is no longer served, it is gone from the platform, its file is removed. A
step that was cut off is done again.
"""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.contract.context import Company
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import token_store, user_rights
from wmsd.tenants.companies import store
from wmsd.tenants.companies.actions import no_such_company

UNDER_WAY: Final = "SELECT company_id FROM company_deletions WHERE code = ? AND ended_at IS NULL"
BEGIN: Final = "INSERT INTO company_deletions (company_id, code, begun_at) VALUES (?, ?, ?)"
GIVE_UP: Final = "DELETE FROM company_deletions WHERE company_id = ? AND ended_at IS NULL"
END: Final = "UPDATE company_deletions SET ended_at = ?, archive = ? WHERE company_id = ?"
OF_COMPANY: Final = ("company_modules", "user_companies", "request_counts", "sites", "high_water_marks")
"""The tables whose rows go with a company. Other rooms' tables too: that is what referring to a company means."""
USERS: Final = """
    SELECT users.email, users.name, users.role FROM users JOIN user_companies ON user_companies.user_id = users.id
    WHERE user_companies.company_id = ? ORDER BY users.email
"""
USER_IDS: Final = "SELECT user_id FROM user_companies WHERE company_id = ?"
MEMBERSHIPS: Final = """
    SELECT users.email, json_group_array(companies.code ORDER BY companies.code) AS codes
    FROM users JOIN user_companies ON user_companies.user_id = users.id
    JOIN companies ON companies.id = user_companies.company_id
    WHERE users.id IN (SELECT user_id FROM user_companies WHERE company_id = ?)
    GROUP BY users.id ORDER BY users.email
"""
"""Of the users of a company, with all companies that they have."""
LEFT: Final = "user.change by company.delete"
"""With the code: what the audit calls it that a user has no longer a company that was deleted."""
WHO_HAD: Final = """
    SELECT users.email FROM audit JOIN users ON users.email = audit.subject
    WHERE audit.action = ? AND users.role <> 'platform-admin'
        AND audit.id > (
            SELECT coalesce(max(id), 0) FROM audit WHERE action = 'company.delete begun' AND subject = ?
        )
    ORDER BY users.email
"""
SITES: Final = "SELECT name, warehouse_code, created_at FROM sites WHERE company_id = ? ORDER BY id"


class Begun(NamedTuple):
    company: Company
    is_resumed: bool
    """Whether an earlier deletion of it was cut off."""


class Left(NamedTuple):
    """What went with a company: users no longer have it, and tokens that were for nothing else are revoked."""

    users: list[str]
    tokens_revoked: int


def find(tx: Transaction, code: str) -> Begun:
    """The company that is to be deleted. Raises Problem (404)."""
    resumed = tx.find_number(UNDER_WAY, (code,))
    known = store.every_company(tx)
    for company in known:
        if company.id == resumed or (resumed is None and company.code == code):
            return Begun(company, resumed is not None)
    raise no_such_company(code, known)


def begin(tx: Transaction, code: str) -> Begun:
    """From its commit on nobody is served the company. Raises Problem (404)."""
    found = find(tx, code)
    if not found.is_resumed:
        tx.execute(BEGIN, (found.company.id, code, tx.timestamp))
        store.write_audit(tx, "company.delete begun", code)
    return found


def give_up(tx: Transaction, company: Company) -> bool:
    """The company is served again, unless its deletion has ended. Answers whether it is."""
    was_under_way = tx.execute(GIVE_UP, (company.id,)).rowcount > 0
    if was_under_way:
        store.write_audit(tx, "company.delete given up", company.code)
    return was_under_way


def platform_rows(tx: Transaction, company: Company) -> dict[str, Any]:
    """What the platform knows of the company and no backup of its file has. Nothing of it is secret."""
    return {
        "company": tx.record("SELECT * FROM companies WHERE id = ?", (company.id,)),
        "operator": None if company.operator is None else company.operator.code,
        "modules": sorted(company.modules),
        "users": tx.records(USERS, (company.id,)),
        "sites": tx.records(SITES, (company.id,)),
    }


def end(tx: Transaction, company: Company, archive: Path | None = None, aside: Path | None = None) -> Left:
    """Removes the company from the platform. `aside`: the folder with its file, when there is no archive."""
    revoked = token_store.leave_company(tx, company.id)
    users = _leave(tx, company)
    user_ids = [user_id for (user_id,) in tx.rows(USER_IDS, (company.id,))]
    for table in OF_COMPANY:
        tx.execute(f"DELETE FROM {table} WHERE company_id = ?", (company.id,))
    tx.execute("DELETE FROM companies WHERE id = ?", (company.id,))
    for user_id in user_ids:
        user_rights.shrink(tx, user_id)
    written, moved = (None if path is None else str(path) for path in (archive, aside))
    tx.execute(END, (tx.timestamp, written, company.id))
    before = {"name": company.name, "archive": None, "folder": None, "tokens_revoked": 0}
    after = {"name": None, "archive": written, "folder": moved, "tokens_revoked": revoked}
    action = "company.delete without archive" if archive is None else "company.delete"
    store.write_audit(tx, action, company.code, store.field_differences(before, after))
    return Left(users, revoked)


def _leave(tx: Transaction, company: Company) -> list[str]:
    """Says in the audit which users no longer have the company. Returns them."""
    memberships = tx.rows(MEMBERSHIPS, (company.id,))
    for email, codes in memberships:
        before = {"company_codes": json.loads(codes)}
        after = {"company_codes": [code for code in before["company_codes"] if code != company.code]}
        store.write_audit(tx, f"{LEFT} {company.code}", email, store.field_differences(before, after))
    return [email for email, _ in memberships]


def who_had(tx: Transaction, code: str) -> list[str]:
    """The users who had the company of this code when it was deleted the last time, and are still there."""
    return [email for (email,) in tx.rows(WHO_HAD, (f"{LEFT} {code}", code))]


def ended(tx: Transaction) -> dict[int, str]:
    """The companies that are gone from the platform, with their codes; their files should be gone too."""
    return dict(tx.rows("SELECT company_id, code FROM company_deletions WHERE ended_at IS NOT NULL"))
