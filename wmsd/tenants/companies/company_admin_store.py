"""The SQL of the lists and records that admins see of companies, operators and the audit."""

import json
from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.contract.context import Caller
from wmsd.contract.list_queries import Query
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import update_sql
from wmsd.tenants.companies.record_lists import record_list
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


def _company_filters(tx: Transaction, query: Query, caller: Caller) -> Mapping[str, object]:
    within = caller.company_ids
    return query.filters() if within is None else query.filters() | {WITHIN: dumps(sorted(within))}


COMPANIES: Final = record_list(
    "companies",
    CompanyRecord,
    CompanyFilters,
    noun="company",
    columns={"operator_code": OPERATOR_CODE, "modules": MODULES},
    conditions_of={
        "operator_code": f"{OPERATOR_CODE} = :operator_code",
        "search": "instr(lower(code || ' ' || name), lower(:search))",
    },
    hidden={WITHIN: f"id IN (SELECT value FROM json_each(:{WITHIN}))"},
    filters=_company_filters,
)
OPERATORS: Final = record_list("operators", OperatorShown, OperatorFilters, noun="operator")
ENTRIES: Final = record_list(
    "audit",
    AuditEntry,
    AuditFilters,
    conditions_of={"action": "substr(action, 1, length(:action)) = :action", "since": "at >= :since"},
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


def update_company(tx: Transaction, company_id: int, columns: Mapping[str, object]) -> None:
    row = {**columns, "updated_at": tx.timestamp}
    tx.execute(update_sql("companies", row), {**row, "id": company_id})


def audit_entries(tx: Transaction, **filters: str | int | None) -> list[dict[str, Any]]:
    """The last entries that fit, the oldest of them first. A filter that is None lets all through."""
    rows = tx.records(FIND, {"after": 0, **filters})
    return [{**row, "details": json.loads(row["details"]) if row["details"] else None} for row in reversed(rows)]
