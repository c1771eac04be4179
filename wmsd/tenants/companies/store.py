"""The SQL of operators, companies and modules."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.contract.context import Actor, Company, Operator
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.transaction import Transaction

COMPANIES: Final = """
    SELECT companies.id, companies.code, companies.name, companies.sandbox, companies.requests_per_minute,
        companies.graphql_per_minute, companies.quota_megabytes, companies.held_before,
        companies.frozen_at,
        companies.suspended_at, companies.suspended_because,
        operators.id AS operator_id, operators.code AS operator_code, operators.name AS operator_name,
        operators.sandbox AS operator_sandbox, operators.sandbox_webhooks AS operator_sandbox_webhooks,
        (SELECT group_concat(module) FROM company_modules WHERE company_id = companies.id) AS modules
    FROM companies LEFT JOIN operators ON operators.id = companies.operator_id
    {} ORDER BY companies.id
"""
EVERY: Final = COMPANIES.format("")
SERVED: Final = COMPANIES.format("WHERE companies.id NOT IN (SELECT company_id FROM company_deletions)")


def companies(tx: Transaction) -> list[Company]:
    """Those that are served: not one that is being deleted."""
    return [_company(row) for row in tx.records(SERVED)]


def every_company(tx: Transaction) -> list[Company]:
    return [_company(row) for row in tx.records(EVERY)]


COUNT: Final = "SELECT count(*) FROM companies"


def count(tx: Transaction) -> int:
    number: int = tx.value(COUNT)
    return number


INSTALLATION: Final = "SELECT id FROM installation"


def installation(tx: Transaction) -> str:
    """The id of this installation, which stands in each of its files."""
    found: str = tx.value(INSTALLATION)
    return found


INSTALLATION_NAME: Final = "SELECT name FROM installation"
NAME_INSTALLATION: Final = "UPDATE installation SET name = ?"
UNNAMED: Final = "wmsd"


def installation_name(tx: Transaction) -> str:
    """What people call this installation; `wmsd` until somebody names it."""
    return tx.value(INSTALLATION_NAME) or UNNAMED


def name_installation(tx: Transaction, name: str) -> None:
    tx.execute(NAME_INSTALLATION, (name,))


CODES: Final = "SELECT id, code FROM companies ORDER BY id"


def codes(tx: Transaction) -> dict[int, str]:
    """The codes of all companies, by id. Reads only the companies table."""
    return dict(tx.rows(CODES))


MARKS: Final = "SELECT company_id, last_change, last_event FROM high_water_marks"
HAS_MARKS: Final = "SELECT count(*) FROM sqlite_schema WHERE name = 'high_water_marks'"
KEEP_MARK: Final = """
    INSERT INTO high_water_marks (company_id, last_change, last_event) VALUES (?, ?, ?)
    ON CONFLICT (company_id) DO UPDATE
    SET last_change = max(last_change, excluded.last_change), last_event = max(last_event, excluded.last_event)
"""


def marks(tx: Transaction) -> dict[int, HighWaterMark]:
    """How far each company's file has come, as far as it was noted. Empty in a file from before the table."""
    if not tx.value(HAS_MARKS):
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
    )


NOTE_HELD_BEFORE: Final = "UPDATE companies SET held_before = ? WHERE id = ? AND held_before IS NULL"


def note_held_before(tx: Transaction, held: Mapping[int, int]) -> None:
    """Notes the bytes that companies held before there were shares of the disk, by id."""
    tx.executemany(NOTE_HELD_BEFORE, [(size, company_id) for company_id, size in held.items()])


INSERT_COMPANY: Final = """
    INSERT INTO companies (code, name, operator_id, sandbox, created_at, updated_at)
    VALUES (:code, :name, :operator_id, :sandbox, :now, :now)
"""


def insert_company(tx: Transaction, code: str, name: str, operator_id: int | None, sandbox: bool) -> int:
    return tx.insert(
        INSERT_COMPANY,
        {"code": code, "name": name, "operator_id": operator_id, "sandbox": sandbox, "now": tx.timestamp},
    )


CHANGE_COMPANY: Final = """
    UPDATE companies SET name = coalesce(:name, name), sandbox = coalesce(:sandbox, sandbox),
        requests_per_minute = nullif(coalesce(:requests_per_minute, requests_per_minute), 0),
        graphql_per_minute = nullif(coalesce(:graphql_per_minute, graphql_per_minute), 0),
        quota_megabytes = nullif(coalesce(:quota_megabytes, quota_megabytes), 0),
        updated_at = :now
    WHERE id = :id
"""


def change_company(tx: Transaction, company_id: int, changes: Mapping[str, object]) -> None:
    """Changes the columns. None leaves a column as it is; 0 removes the company's own limit."""
    tx.execute(CHANGE_COMPANY, {**changes, "id": company_id, "now": tx.timestamp})


FREEZE: Final = "UPDATE companies SET frozen_at = ? WHERE id = ? AND frozen_at IS NULL"
THAW: Final = "UPDATE companies SET frozen_at = NULL WHERE id = ? AND frozen_at IS NOT NULL"


def freeze(tx: Transaction, company_id: int) -> bool:
    """Returns whether that changed anything."""
    return tx.execute(FREEZE, (tx.timestamp, company_id)).rowcount > 0


def thaw(tx: Transaction, company_id: int) -> bool:
    """Returns whether that changed anything."""
    return tx.execute(THAW, (company_id,)).rowcount > 0


FROZEN: Final = "SELECT code, frozen_at FROM companies WHERE frozen_at IS NOT NULL ORDER BY frozen_at"


def frozen(tx: Transaction) -> dict[str, str]:
    """Since when, by code."""
    return dict(tx.rows(FROZEN))


SUSPEND: Final = """
    UPDATE companies SET suspended_at = ?, suspended_because = ? WHERE id = ? AND suspended_at IS NULL
"""
RESUME: Final = """
    UPDATE companies SET suspended_at = NULL, suspended_because = NULL WHERE id = ? AND suspended_at IS NOT NULL
"""


def suspend(tx: Transaction, company_id: int, because: str | None) -> bool:
    """Returns whether that changed anything."""
    return tx.execute(SUSPEND, (tx.timestamp, because, company_id)).rowcount > 0


def resume(tx: Transaction, company_id: int) -> bool:
    """Returns whether that changed anything."""
    return tx.execute(RESUME, (company_id,)).rowcount > 0


SUSPENDED: Final = "SELECT code, suspended_at FROM companies WHERE suspended_at IS NOT NULL ORDER BY suspended_at"


def suspended(tx: Transaction) -> dict[str, str]:
    """Since when, by code."""
    return dict(tx.rows(SUSPENDED))


OPERATORS: Final = "SELECT id, code, name, sandbox, sandbox_webhooks FROM operators ORDER BY id"


def operators(tx: Transaction) -> list[Operator]:
    return [Operator(row[0], row[1], row[2], bool(row[3]), bool(row[4])) for row in tx.rows(OPERATORS)]


INSERT_OPERATOR: Final = """
    INSERT INTO operators (code, name, sandbox, sandbox_webhooks, created_at, updated_at)
    VALUES (:code, :name, :sandbox, :sandbox_webhooks, :now, :now)
"""


def insert_operator(tx: Transaction, values: Mapping[str, object]) -> int:
    return tx.insert(INSERT_OPERATOR, {**values, "now": tx.timestamp})


CHANGE_OPERATOR: Final = """
    UPDATE operators SET name = coalesce(:name, name), sandbox = coalesce(:sandbox, sandbox),
        sandbox_webhooks = coalesce(:sandbox_webhooks, sandbox_webhooks), updated_at = :now
    WHERE id = :id
"""


def change_operator(tx: Transaction, operator_id: int, changes: Mapping[str, object]) -> None:
    """Changes the columns. None leaves a column as it is."""
    tx.execute(CHANGE_OPERATOR, {**changes, "id": operator_id, "now": tx.timestamp})


ENABLE_MODULE: Final = "INSERT OR IGNORE INTO company_modules (company_id, module) VALUES (?, ?)"
DISABLE_MODULE: Final = "DELETE FROM company_modules WHERE company_id = ? AND module = ?"


def set_module(tx: Transaction, company_id: int, module: str, enabled: bool) -> bool:
    """Enables or disables a module; answers whether that changed anything."""
    sql = ENABLE_MODULE if enabled else DISABLE_MODULE
    return tx.execute(sql, (company_id, module)).rowcount > 0


class AuditedRecord(NamedTuple):
    company_code: str
    kind: str
    """Such as article."""
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
    """Records a change of the installation itself. `details` are the fields that are changed, each with its value
    before and after. `actor`: when it is not who writes it down. `record`: that of a company which it is about.
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
    """The companies that were imported from this origin, as the audit says, and are still there: their codes."""
    return [code for (code,) in tx.rows(CAME_FROM, (origin,))]


def field_differences(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    """Each field that differs, with its value before and after."""
    return {
        name: {"before": before.get(name), "after": value}
        for name, value in after.items()
        if before.get(name) != value
    }
