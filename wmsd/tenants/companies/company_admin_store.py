"""The SQL of the lists and records that admins see of companies, operators and the audit."""

import json
from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import CursorQuery, PageQuery
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.lists import Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.db.sql.statements import update_sql
from wmsd.tenants.companies.schema import (
    AuditEntry,
    AuditFilters,
    CompanyFilters,
    CompanyRecord,
    OperatorFilters,
    OperatorShown,
)

WITHIN: Final = "within"
"""A filter that no caller sends: the ids of the companies that the caller may see."""
OPERATOR_CODE: Final = "(SELECT operators.code FROM operators WHERE operators.id = companies.operator_id)"
MODULES: Final = """
    (SELECT json_group_array(module ORDER BY module) FROM company_modules WHERE company_id = companies.id)
"""
COMPANY: Final = record_sql(CompanyRecord, {"operator_code": OPERATOR_CODE, "modules": MODULES})
COMPANIES: Final = Listing(
    "companies",
    "id",
    conditions(
        CompanyFilters,
        operator_code=f"{OPERATOR_CODE} = :operator_code",
        search="instr(lower(code || ' ' || name), lower(:search))",
    )
    | {WITHIN: f"id IN (SELECT value FROM json_each(:{WITHIN}))"},
    "",
)
OPERATOR: Final = record_sql(OperatorShown)
OPERATORS: Final = Listing("operators", "id", conditions(OperatorFilters), "")
ENTRY: Final = record_sql(AuditEntry)
ENTRIES: Final = Listing(
    "audit",
    "id",
    conditions(AuditFilters, action="substr(action, 1, length(:action)) = :action", since="at >= :since"),
    "",
)
FIND: Final = """
    SELECT id, at, actor, address, action, subject, details FROM audit
    WHERE (:who IS NULL OR instr(lower(actor), lower(:who)))
        AND (:what IS NULL OR substr(action, 1, length(:what)) = :what)
        AND (:subject IS NULL OR subject = :subject OR substr(subject, 1, length(:subject) + 1) = :subject || ' ')
        AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
        AND id > :after
    ORDER BY id DESC LIMIT :limit
"""
"""A site's and a webhook's subject begins with the code of its company."""


def companies(tx: Transaction, query: PageQuery, within: frozenset[int] | None) -> Page:
    """Those that are `within`; None: all."""
    return COMPANIES.page(tx, COMPANY, query, query.filters() | visible(within))


def companies_after(
    tx: Transaction, query: CursorQuery, position: int, within: frozenset[int] | None
) -> CursorPage:
    return COMPANIES.after(tx, COMPANY, query, position, query.filters() | visible(within))


def visible(within: frozenset[int] | None) -> dict[str, object]:
    return {} if within is None else {WITHIN: dumps(sorted(within))}


def company(tx: Transaction, company_id: int) -> Record | None:
    text = tx.value(f"SELECT {COMPANY} FROM companies WHERE id = ?", (company_id,))
    return None if text is None else Record(company_id, text)


def update_company(tx: Transaction, company_id: int, columns: Mapping[str, object]) -> None:
    row = {**columns, "updated_at": tx.timestamp}
    tx.execute(update_sql("companies", row), {**row, "id": company_id})


def operators(tx: Transaction, query: PageQuery) -> Page:
    return OPERATORS.page(tx, OPERATOR, query, query.filters())


def operators_after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return OPERATORS.after(tx, OPERATOR, query, position, query.filters())


def operator(tx: Transaction, operator_id: int) -> Record | None:
    text = tx.value(f"SELECT {OPERATOR} FROM operators WHERE id = ?", (operator_id,))
    return None if text is None else Record(operator_id, text)


def entries(tx: Transaction, query: PageQuery) -> Page:
    return ENTRIES.page(tx, ENTRY, query, query.filters())


def entries_after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return ENTRIES.after(tx, ENTRY, query, position, query.filters())


def audit_entries(tx: Transaction, **filters: str | int | None) -> list[dict[str, Any]]:
    """The last entries that fit, the oldest of them first. A filter that is None lets all through."""
    rows = tx.records(FIND, {"after": 0, **filters})
    return [{**row, "details": json.loads(row["details"]) if row["details"] else None} for row in reversed(rows)]
