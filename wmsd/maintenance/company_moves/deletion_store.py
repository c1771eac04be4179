"""The steps of a company's deletion. First the company is no longer served, then the platform removes it, then its
file is removed. An interrupted step is repeated.
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
"""The tables from which a deletion removes the company's rows. Some of these tables belong to other packages."""
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
"""Selects the users of a company. Each user comes with the codes of all companies that are assigned to the user.
"""
LEFT: Final = "user.change by company.delete"
"""The audit action for a user who loses access because a company is deleted. In an entry, the company's code
follows this text.
"""
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
    """Whether an earlier deletion of the company was interrupted."""


class Left(NamedTuple):
    """The users who lost access because a company was deleted, and the number of revoked tokens. Tokens that also
    give access to other companies are not revoked.
    """

    users: list[str]
    tokens_revoked: int


def find(tx: Transaction, code: str) -> Begun:
    """Return the company to delete. Raise Problem (404) if there is no company with this code."""
    resumed = tx.find_number(UNDER_WAY, (code,))
    known = store.every_company(tx)
    for company in known:
        if company.id == resumed or (resumed is None and company.code == code):
            return Begun(company, resumed is not None)
    raise no_such_company(code, known)


def begin(tx: Transaction, code: str) -> Begun:
    """Begin a deletion. From its commit on, the company is not served. Raise Problem (404) if there is no company
    with this code.
    """
    found = find(tx, code)
    if not found.is_resumed:
        tx.execute(BEGIN, (found.company.id, code, tx.timestamp))
        store.write_audit(tx, "company.delete begun", code)
    return found


def give_up(tx: Transaction, company: Company) -> bool:
    """Cancel a deletion, so that the company is served again. Return False if the deletion has already ended."""
    was_under_way = tx.execute(GIVE_UP, (company.id,)).rowcount > 0
    if was_under_way:
        store.write_audit(tx, "company.delete given up", company.code)
    return was_under_way


def platform_rows(tx: Transaction, company: Company) -> dict[str, Any]:
    """Return the platform's records about the company, without secrets. A backup of the company's file does not
    contain these records.
    """
    return {
        "company": tx.record("SELECT * FROM companies WHERE id = ?", (company.id,)),
        "operator": None if company.operator is None else company.operator.code,
        "modules": sorted(company.modules),
        "users": tx.records(USERS, (company.id,)),
        "sites": tx.records(SITES, (company.id,)),
    }


def end(tx: Transaction, company: Company, archive: Path | None = None, aside: Path | None = None) -> Left:
    """Remove the company from platform.db, and record this in the audit. Return who lost access.

    `archive` is the archive of the company's file, or None. Without an archive, `aside` is the folder to which the
    file was moved.
    """
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
    """Record in the audit which users lose access to the company. Return their e-mail addresses."""
    memberships = tx.rows(MEMBERSHIPS, (company.id,))
    for email, codes in memberships:
        before = {"company_codes": json.loads(codes)}
        after = {"company_codes": [code for code in before["company_codes"] if code != company.code]}
        store.write_audit(tx, f"{LEFT} {company.code}", email, store.field_differences(before, after))
    return [email for email, _ in memberships]


def who_had(tx: Transaction, code: str) -> list[str]:
    """Return the e-mail addresses of the users who lost access when the company with this code was last deleted.

    Platform admins and users who no longer exist are left out.
    """
    return [email for (email,) in tx.rows(WHO_HAD, (f"{LEFT} {code}", code))]


def ended(tx: Transaction) -> dict[int, str]:
    """Return the codes of companies that the platform has removed, by id. No files of these companies should
    exist.
    """
    return dict(tx.rows("SELECT company_id, code FROM company_deletions WHERE ended_at IS NOT NULL"))
