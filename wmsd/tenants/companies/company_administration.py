"""What admins do with companies and operators at the pages, and the audit that they read there."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import invalid, not_found
from wmsd.contract.access import MODULES
from wmsd.contract.context import Caller, Operator
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import actions, company_admin_store, store
from wmsd.tenants.companies.schema import (
    AuditCursorQuery,
    AuditEntry,
    AuditQuery,
    CompanyCode,
    CompanyCursorQuery,
    CompanyQuery,
    CompanyRecord,
    CompanySettingsPatch,
    CompanyToMake,
    InstallationName,
    Message,
    NewOperator,
    OperatorChanges,
    OperatorCursorQuery,
    OperatorQuery,
    OperatorShown,
)

administration = partial(operation, tag="Administration", scope="installation")
for_all_admins = partial(administration, role="company-admin")
for_platform_admins = partial(administration, role="platform-admin")


@dataclass(frozen=True, slots=True)
class CompanyFileMaker:
    """Makes the file of a new company, of its id and code."""

    make: Callable[[int, str], None]


@for_all_admins(answer="page", returns=CompanyRecord)
def list_company_records(tx: Transaction, caller: Caller, query: CompanyQuery) -> Page:
    """List the companies that an admin may see, with their settings."""
    return company_admin_store.companies(tx, query, caller.company_ids)


@for_all_admins(answer="cursor", returns=CompanyRecord)
def walk_company_records(tx: Transaction, caller: Caller, query: CompanyCursorQuery, position: int) -> CursorPage:
    """List them by cursor."""
    return company_admin_store.companies_after(tx, query, position, caller.company_ids)


def _company_record(tx: Transaction, caller: Caller, id: int) -> Record:
    found = company_admin_store.company(tx, id) if caller.may_use(id) else None
    if found is None:
        raise not_found("company")
    return found


@for_all_admins(answer="record", returns=CompanyRecord)
def get_company_record(tx: Transaction, caller: Caller, id: int) -> Record:
    """Get a company with its settings."""
    return _company_record(tx, caller, id)


@for_platform_admins(
    answer="record", returns=CompanyRecord, writes=True, creates=True, codes=("SERVICE_UNAVAILABLE",)
)
def create_company_record(tx: Transaction, caller: Caller, body: CompanyToMake) -> Record:
    """Make a company, with a file of its own."""
    company_id = actions.create_company(tx, body, tx.service(CompanyFileMaker).make)
    return _company_record(tx, caller, company_id)


@for_platform_admins(answer="record", returns=CompanyRecord, writes=True, precondition=_company_record)
def change_company_record(tx: Transaction, caller: Caller, id: int, body: CompanySettingsPatch) -> Record:
    """Change a company. A module that is off is off from the next request on."""
    before: dict[str, Any] = json.loads(_company_record(tx, caller, id).json)
    given = body.given()
    errors = actions.check_modules(body.modules if "modules" in given else [])
    columns = {name: value for name, value in given.items() if name not in ("modules", "operator_code")}
    if "operator_code" in given:
        operator = _operator_or_none(tx, body.operator_code)
        if body.operator_code is not None and operator is None:
            errors["operator_code"] = actions.not_an_operator(tx, body.operator_code)
        columns["operator_id"] = None if operator is None else operator.id
    if errors:
        raise invalid(errors)
    company_admin_store.update_company(tx, id, columns)
    for module in MODULES if "modules" in given else ():
        store.set_module(tx, id, module, module in body.modules)
    after = _company_record(tx, caller, id)
    shown = {name: value for name, value in json.loads(after.json).items() if name != "updated_at"}
    store.write_audit(tx, "company.change", before["code"], store.field_differences(before, shown))
    return after


@for_platform_admins(answer="record", returns=CompanyRecord, writes=True, precondition=_company_record)
def rename_company_record(tx: Transaction, caller: Caller, id: int, body: CompanyCode) -> Record:
    """Give a company another code. Its id stays, so programs notice nothing."""
    before = json.loads(_company_record(tx, caller, id).json)["code"]
    if body.code != before:
        if errors := actions.code_errors(tx, body.code, id):
            raise invalid(errors)
        company_admin_store.update_company(tx, id, {"code": body.code})
        store.write_audit(
            tx, "company.rename", before, store.field_differences({"code": before}, {"code": body.code})
        )
    return _company_record(tx, caller, id)


def _operator_or_none(tx: Transaction, code: str | None) -> Operator | None:
    return next((operator for operator in store.operators(tx) if operator.code == code), None)


@for_platform_admins(answer="object", returns=Message, writes=True)
def name_installation(tx: Transaction, body: InstallationName) -> dict[str, object]:
    """Name the installation."""
    before = store.installation_name(tx)
    store.name_installation(tx, body.name)
    store.write_audit(
        tx, "installation.name", body.name, store.field_differences({"name": before}, {"name": body.name})
    )
    return {"message": f"This installation is called {body.name}."}


@for_platform_admins(answer="page", returns=OperatorShown)
def list_operator_records(tx: Transaction, query: OperatorQuery) -> Page:
    """List the operators."""
    return company_admin_store.operators(tx, query)


@for_platform_admins(answer="cursor", returns=OperatorShown)
def walk_operator_records(tx: Transaction, query: OperatorCursorQuery, position: int) -> CursorPage:
    """List them by cursor."""
    return company_admin_store.operators_after(tx, query, position)


def _operator_record(tx: Transaction, id: int) -> Record:
    found = company_admin_store.operator(tx, id)
    if found is None:
        raise not_found("operator")
    return found


@for_platform_admins(answer="record", returns=OperatorShown)
def get_operator_record(tx: Transaction, id: int) -> Record:
    """Get an operator."""
    return _operator_record(tx, id)


@for_platform_admins(answer="record", returns=OperatorShown, writes=True, creates=True)
def create_operator_record(tx: Transaction, body: NewOperator) -> Record:
    """Make an operator."""
    return _operator_record(tx, actions.create_operator(tx, body))


@for_platform_admins(answer="record", returns=OperatorShown, writes=True, precondition=_operator_record)
def change_operator_record(tx: Transaction, id: int, body: OperatorChanges) -> Record:
    """Change an operator. Its companies follow from the next request on."""
    before = json.loads(_operator_record(tx, id).json)
    store.change_operator(tx, id, body.model_dump())
    after = _operator_record(tx, id)
    shown = {name: value for name, value in json.loads(after.json).items() if name != "updated_at"}
    store.write_audit(tx, "operator.change", before["code"], store.field_differences(before, shown))
    return after


@for_platform_admins(answer="page", returns=AuditEntry)
def list_audit(tx: Transaction, query: AuditQuery) -> Page:
    """List what was done to the installation, the last first."""
    return company_admin_store.entries(tx, query)


@for_platform_admins(answer="cursor", returns=AuditEntry)
def walk_audit(tx: Transaction, query: AuditCursorQuery, position: int) -> CursorPage:
    """List it by cursor, the first first."""
    return company_admin_store.entries_after(tx, query, position)
