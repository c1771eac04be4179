"""The SQL of operators, companies and modules."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wmsd.base.letters import plain
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Actor, Company, Operator
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import update_sql

COMPANIES: Final = """
    SELECT companies.id, companies.code, companies.name, companies.sandbox, companies.requests_per_minute,
        companies.graphql_per_minute, companies.quota_megabytes, companies.held_before,
        companies.frozen_at,
        companies.suspended_at, companies.suspended_because, companies.time_zone,
        operators.id AS operator_id, operators.code AS operator_code, operators.name AS operator_name,
        operators.sandbox AS operator_sandbox, operators.sandbox_webhooks AS operator_sandbox_webhooks,
        (SELECT group_concat(module) FROM company_modules WHERE company_id = companies.id) AS modules
    FROM companies LEFT JOIN operators ON operators.id = companies.operator_id
    {} ORDER BY companies.id
"""
EVERY: Final = COMPANIES.format("")
SERVED: Final = COMPANIES.format("WHERE companies.id NOT IN (SELECT company_id FROM company_deletions)")


def companies(tx: Transaction) -> list[Company]:
    """Return all companies, except companies that are being deleted."""
    return [_company(row) for row in tx.records(SERVED)]


def every_company(tx: Transaction) -> list[Company]:
    return [_company(row) for row in tx.records(EVERY)]


def count(tx: Transaction) -> int:
    return tx.number("SELECT count(*) FROM companies")


def installation(tx: Transaction) -> str:
    """Return the id of this installation, which each of its files contains."""
    return str(tx.value("SELECT id FROM installation"))


UNNAMED: Final = "wmsd"


def installation_name(tx: Transaction) -> str:
    """Return the display name of this installation, or `wmsd` if no name was chosen."""
    return tx.value("SELECT name FROM installation") or UNNAMED


def name_installation(tx: Transaction, name: str) -> None:
    tx.execute("UPDATE installation SET name = ?", (name,))


CODES: Final = "SELECT id, code FROM companies ORDER BY id"


def codes(tx: Transaction) -> dict[int, str]:
    """Return the codes of all companies, by id. This reads only the table of companies, and opens no company's
    file.
    """
    return dict(tx.rows(CODES))


MARKS: Final = "SELECT company_id, last_change, last_event FROM high_water_marks"
KEEP_MARK: Final = """
    INSERT INTO high_water_marks (company_id, last_change, last_event) VALUES (?, ?, ?)
    ON CONFLICT (company_id) DO UPDATE
    SET last_change = max(last_change, excluded.last_change), last_event = max(last_event, excluded.last_event)
"""


def marks(tx: Transaction) -> dict[int, HighWaterMark]:
    """Return the high-water mark of each company's file, by company id. Older versions of wmsd do not store these
    marks: return an empty dict if such a version has written platform.db.
    """
    if not tx.value("SELECT count(*) FROM sqlite_schema WHERE name = 'high_water_marks'"):
        return {}
    return {company_id: HighWaterMark(change, event) for company_id, change, event in tx.rows(MARKS)}


def keep_marks(tx: Transaction, marks: Mapping[int, HighWaterMark]) -> None:
    tx.executemany(KEEP_MARK, [(company_id, *mark) for company_id, mark in marks.items()])


def _company(row: dict[str, Any]) -> Company:
    operator = None
    if row["operator_id"] is not None:
        operator = Operator(
            row["operator_id"],
            row["operator_code"],
            row["operator_name"],
            bool(row["operator_sandbox"]),
            bool(row["operator_sandbox_webhooks"]),
        )
    return Company(
        id=row["id"],
        code=row["code"],
        name=row["name"],
        operator=operator,
        sandbox=bool(row["sandbox"]) or (operator is not None and operator.sandbox),
        modules=frozenset((row["modules"] or "").split(",")) - {""},
        requests_per_minute=row["requests_per_minute"],
        graphql_per_minute=row["graphql_per_minute"],
        quota_megabytes=row["quota_megabytes"],
        held_before=row["held_before"],
        frozen_at=row["frozen_at"],
        suspended_at=row["suspended_at"],
        suspended_because=row["suspended_because"],
        time_zone=row["time_zone"],
    )


NOTE_HELD_BEFORE: Final = "UPDATE companies SET held_before = ? WHERE id = ? AND held_before IS NULL"


def note_held_before(tx: Transaction, held: Mapping[int, int]) -> None:
    """Store how many bytes each company used before wmsd began to limit each company's disk space. `held` has
    these numbers by company id. If a number is already stored for a company, do not change it.
    """
    tx.executemany(NOTE_HELD_BEFORE, [(size, company_id) for company_id, size in held.items()])


def set_state(tx: Transaction, company_id: int, columns: Mapping[str, str | None]) -> None:
    """Freeze, thaw, suspend or resume a company. `columns` has the new values, such as `frozen_at`. The company's
    `updated_at` does not change.
    """
    tx.execute(update_sql("companies", columns), {**columns, "id": company_id})


def frozen(tx: Transaction) -> dict[str, str]:
    """Return the times at which companies were frozen, by company code."""
    return dict(tx.rows("SELECT code, frozen_at FROM companies WHERE frozen_at IS NOT NULL ORDER BY frozen_at"))


SUSPENDED: Final = "SELECT code, suspended_at FROM companies WHERE suspended_at IS NOT NULL ORDER BY suspended_at"


def suspended(tx: Transaction) -> dict[str, str]:
    """Return the times at which companies were suspended, by company code."""
    return dict(tx.rows(SUSPENDED))


OPERATORS: Final = "SELECT id, code, name, sandbox, sandbox_webhooks FROM operators ORDER BY id"


def operators(tx: Transaction) -> list[Operator]:
    return [Operator(row[0], row[1], row[2], bool(row[3]), bool(row[4])) for row in tx.rows(OPERATORS)]


ENABLE_MODULE: Final = "INSERT OR IGNORE INTO company_modules (company_id, module) VALUES (?, ?)"
DISABLE_MODULE: Final = "DELETE FROM company_modules WHERE company_id = ? AND module = ?"


def set_module(tx: Transaction, company_id: int, module: str, enabled: bool) -> bool:
    """Enable or disable a module. Return True if that changed anything."""
    sql = ENABLE_MODULE if enabled else DISABLE_MODULE
    return tx.execute(sql, (company_id, module)).rowcount > 0


class AuditedRecord(NamedTuple):
    company_code: str
    kind: str
    """The kind of record, such as article."""
    id: int


AUDIT: Final = """
    INSERT INTO audit (at, actor, action, subject, address, details, record)
    VALUES (:at, :actor, :action, :subject, :address, :details,
        (SELECT id FROM companies WHERE code = :company) || '/' || :record)
"""


def write_audit(
    tx: Transaction,
    action: str,
    subject: str,
    details: Mapping[str, object] | None = None,
    actor: Actor | None = None,
    record: AuditedRecord | None = None,
) -> None:
    """Record a change of the installation itself in the audit.

    `details` contains the changed fields, each with its value before and after. `actor` is the user or program
    that made the change, by default the actor of the transaction. `record` is the company's record that was
    changed.
    """
    actor = actor or tx.actor
    row = {
        "at": tx.timestamp,
        "actor": actor.name,
        "action": action,
        "subject": subject,
        "address": actor.address,
        "details": dumps(details) if details else None,
        "company": None if record is None else record.company_code,
        "record": None if record is None else f"{record.kind}/{record.id}",
    }
    tx.execute(AUDIT, row)


CAME_FROM: Final = """
    SELECT code FROM companies WHERE id IN (
        SELECT json_extract(details, '$.id.after') FROM audit
        WHERE action = 'company.import' AND json_extract(details, '$.origin.after') = ?
    ) ORDER BY id
"""


def came_from(tx: Transaction, origin: str) -> list[str]:
    """Return the codes of the existing companies that were imported from the company `origin`, according to the
    audit. `origin` has the id of the original company's installation, and the company's id there.
    """
    return [code for (code,) in tx.rows(CAME_FROM, (origin,))]


FIND: Final = """
    SELECT id, at, actor, address, action, subject, details FROM audit
    WHERE (:who IS NULL OR instr(plain(actor), :who))
        AND (:what IS NULL OR substr(action, 1, length(:what)) = :what)
        AND (:subject IS NULL OR subject = :subject OR substr(subject, 1, length(:subject) + 1) = :subject || ' ')
        AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
        AND id > :after
    ORDER BY id DESC LIMIT :limit
"""
"""The SQL that finds audit entries. A filter by a company's code also finds entries about its sites and webhooks:
their subjects begin with the code and a blank.
"""


def audit_entries(tx: Transaction, **filters: str | int | None) -> list[dict[str, Any]]:
    """Return the last `limit` entries that match the filters, the oldest first. `filters` has the parameters of
    `FIND`. A filter that is None matches every entry.
    """
    tx.define("plain", plain)
    who = filters.get("who")
    rows = tx.records(FIND, {"after": 0, **filters, "who": who and plain(str(who))})
    return [{**row, "details": json.loads(row["details"]) if row["details"] else None} for row in reversed(rows)]


def field_differences(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    """Return each field that differs, with its value before and after."""
    return {
        name: {"before": before.get(name), "after": value}
        for name, value in after.items()
        if before.get(name) != value
    }
