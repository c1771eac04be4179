"""What admins do with companies and operators in the browser, and the audit that they read there."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import not_found, refuse_errors
from wmsd.base.strict_json import dumps
from wmsd.contract.access import MODULES
from wmsd.contract.context import Caller
from wmsd.contract.list_queries import Query
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import update_row
from wmsd.tenants.companies import actions, store
from wmsd.tenants.companies.record_lists import for_company_admins, for_platform_admins, record_list
from wmsd.tenants.companies.schema import (
    AuditEntry,
    AuditFilters,
    CompanyCode,
    CompanyFilters,
    CompanyRecord,
    CompanySettingsPatch,
    CompanyTimeZoneChoice,
    CompanyToMake,
    InstallationName,
    Message,
    NewOperator,
    OperatorChanges,
    OperatorFilters,
    OperatorShown,
)

WITHIN: Final = "within"
"""The name of an internal filter, which callers cannot send. Its value is the ids of the companies that the caller
may see.
"""
OPERATOR_CODE: Final = "(SELECT operators.code FROM operators WHERE operators.id = companies.operator_id)"
MODULES_ON: Final = """
    (SELECT json_group_array(module ORDER BY module) FROM company_modules WHERE company_id = companies.id)
"""


def _company_filters(tx: Transaction, query: Query, caller: Caller) -> Mapping[str, object]:
    within = caller.company_ids
    return query.filters() if within is None else query.filters() | {WITHIN: dumps(sorted(within))}


COMPANIES: Final = record_list(
    "company_records",
    "List the companies that an admin may see, with their settings.",
    "companies",
    for_company_admins,
    CompanyRecord,
    CompanyFilters,
    noun="company",
    columns={"operator_code": OPERATOR_CODE, "modules": MODULES_ON},
    conditions_of={
        "operator_code": f"{OPERATOR_CODE} = :operator_code",
        "search": "instr(plain(code || ' ' || name), :search)",
    },
    hidden={WITHIN: f"id IN (SELECT value FROM json_each(:{WITHIN}))"},
    filters=_company_filters,
    orders=("id", "code", "name"),
)
OPERATORS: Final = record_list(
    "operator_records",
    "List the operators.",
    "operators",
    for_platform_admins,
    OperatorShown,
    OperatorFilters,
    noun="operator",
    orders=("id", "code", "name"),
)
AUDIT: Final = record_list(
    "audit",
    "List the changes of the installation, newest first.",
    "audit",
    for_platform_admins,
    AuditEntry,
    AuditFilters,
    conditions_of={"action": "substr(action, 1, length(:action)) = :action", "since": "at >= :since"},
    cursor_says="List the changes by cursor, oldest first.",
    sort="-id",
)


@dataclass(frozen=True, slots=True)
class CompanyFileMaker:
    """Contains the function `make`, which creates the file of a new company from the company's id and code."""

    make: Callable[[int, str], None]


def _company_record(tx: Transaction, caller: Caller, id: int) -> Record:
    if not caller.may_use(id):
        raise not_found("company")
    return COMPANIES.one(tx, id)


@for_company_admins(answer="record", returns=CompanyRecord, writes=True, precondition=_company_record)
def choose_company_time_zone(tx: Transaction, caller: Caller, id: int, body: CompanyTimeZoneChoice) -> Record:
    """Choose the time zone of a company.

    The time zone decides when a day of the company begins and ends.
    """
    before = json.loads(_company_record(tx, caller, id).json)
    if body.time_zone != before["time_zone"]:
        update_row(tx, "companies", id, {"time_zone": body.time_zone})
        changed = store.field_differences(before, {"time_zone": body.time_zone})
        store.write_audit(tx, "company.change", before["code"], changed)
    return _company_record(tx, caller, id)


@for_company_admins(answer="record", returns=CompanyRecord)
def get_company_record(tx: Transaction, caller: Caller, id: int) -> Record:
    """Get a company with its settings."""
    return _company_record(tx, caller, id)


@for_platform_admins(
    answer="record", returns=CompanyRecord, writes=True, creates=True, codes=("SERVICE_UNAVAILABLE",)
)
def create_company_record(tx: Transaction, caller: Caller, body: CompanyToMake) -> Record:
    """Create a company, with a separate file."""
    company_id = actions.create_company(tx, body, tx.service(CompanyFileMaker).make)
    return _company_record(tx, caller, company_id)


@for_platform_admins(answer="record", returns=CompanyRecord, writes=True, precondition=_company_record)
def change_company_record(tx: Transaction, caller: Caller, id: int, body: CompanySettingsPatch) -> Record:
    """Change a company.

    If you switch a module off, this takes effect from the next request on.
    """
    before: dict[str, Any] = json.loads(_company_record(tx, caller, id).json)
    given = body.given()
    errors = actions.check_modules(body.modules if "modules" in given else [])
    columns = {name: value for name, value in given.items() if name not in ("modules", "operator_code")}
    if "operator_code" in given:
        operator = actions.operator_of_code(tx, body.operator_code)
        if body.operator_code is not None and operator is None:
            errors["operator_code"] = actions.not_an_operator(tx, body.operator_code)
        columns["operator_id"] = None if operator is None else operator.id
    refuse_errors(errors)
    update_row(tx, "companies", id, columns)
    for module in MODULES if "modules" in given else ():
        store.set_module(tx, id, module, module in body.modules)
    after = _company_record(tx, caller, id)
    shown = {name: value for name, value in json.loads(after.json).items() if name != "updated_at"}
    store.write_audit(tx, "company.change", before["code"], store.field_differences(before, shown))
    return after


@for_platform_admins(answer="record", returns=CompanyRecord, writes=True, precondition=_company_record)
def rename_company_record(tx: Transaction, caller: Caller, id: int, body: CompanyCode) -> Record:
    """Change the code of a company.

    The id of the company stays the same, so programs that use the id are not affected.
    """
    before = json.loads(_company_record(tx, caller, id).json)["code"]
    if body.code != before:
        refuse_errors(actions.code_errors(tx, body.code, id))
        update_row(tx, "companies", id, {"code": body.code})
        store.write_audit(
            tx, "company.rename", before, store.field_differences({"code": before}, {"code": body.code})
        )
    return _company_record(tx, caller, id)


@for_platform_admins(answer="object", returns=Message, writes=True)
def name_installation(tx: Transaction, body: InstallationName) -> dict[str, object]:
    """Name the installation."""
    before = store.installation_name(tx)
    store.name_installation(tx, body.name)
    store.write_audit(
        tx, "installation.name", body.name, store.field_differences({"name": before}, {"name": body.name})
    )
    return {"message": f"This installation is called {body.name}."}


@for_platform_admins(answer="record", returns=OperatorShown)
def get_operator_record(tx: Transaction, id: int) -> Record:
    """Get an operator."""
    return OPERATORS.one(tx, id)


@for_platform_admins(answer="record", returns=OperatorShown, writes=True, creates=True)
def create_operator_record(tx: Transaction, body: NewOperator) -> Record:
    """Create an operator."""
    return OPERATORS.one(tx, actions.create_operator(tx, body))


@for_platform_admins(answer="record", returns=OperatorShown, writes=True, precondition=OPERATORS.one)
def change_operator_record(tx: Transaction, id: int, body: OperatorChanges) -> Record:
    """Change an operator.

    The change applies to the operator's companies from the next request on.
    """
    before = json.loads(OPERATORS.one(tx, id).json)
    update_row(tx, "operators", id, body.model_dump(exclude_none=True))
    after = OPERATORS.one(tx, id)
    shown = {name: value for name, value in json.loads(after.json).items() if name != "updated_at"}
    store.write_audit(tx, "operator.change", before["code"], store.field_differences(before, shown))
    return after
