"""The use cases of operators, companies and modules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from wmsd.base.problems import FieldErrors, Problem, invalid, not_found, refuse_errors
from wmsd.contract.access import MODULES
from wmsd.contract.context import Company, Operator
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.code_forms import form_errors
from wmsd.db.sql.statements import insert_row
from wmsd.tenants.companies import store
from wmsd.tenants.companies.schema import NewCompany, NewOperator
from wmsd.tenants.companies.unknown_codes import similar_code

TAKEN: Final = "is taken by another company"


def create_operator(tx: Transaction, new: NewOperator) -> int:
    if operator_of_code(tx, new.code) is not None:
        raise invalid({"code": ["is taken by another operator"]})
    if errors := form_errors(tx, "operators", "operator", new.code):
        raise invalid({"code": errors})
    store.write_audit(tx, "operator.create", new.code)
    return insert_row(tx, "operators", new.model_dump())


class CameFrom(NamedTuple):
    """The origin of a company that was imported or copied: the action and the details of the audit entry about its
    creation.
    """

    action: str
    details: Mapping[str, object]


def create_company(
    tx: Transaction, new: NewCompany, create_file: Callable[[int, str], None], came: CameFrom | None = None
) -> int:
    """Create a company and return its id. Raise Problem (422) with all errors.

    At the end, this function calls `create_file` with the id and the code of the company, to create the company's
    file. `came` is the origin of an imported or copied company. The code of such a company may contain any
    characters.
    """
    errors = code_errors(tx, new.code) if came is None else codes_like(tx, new.code)
    operator = operator_of_code(tx, new.operator_code)
    if new.operator_code is not None and operator is None:
        errors["operator_code"] = not_an_operator(tx, new.operator_code)
    errors |= check_modules(new.modules)
    refuse_errors(errors)
    columns = {"code": new.code, "name": new.name, "sandbox": new.sandbox, "operator_id": operator and operator.id}
    company_id = insert_row(tx, "companies", columns)
    for module in new.modules:
        store.set_module(tx, company_id, module, True)
    if came is None:
        store.write_audit(tx, "company.create", new.code)
    else:
        store.write_audit(
            tx, came.action, new.code, store.field_differences({}, {**came.details, "id": company_id})
        )
    create_file(company_id, new.code)
    return company_id


def code_errors(tx: Transaction, code: str, of: int | None = None) -> FieldErrors:
    """Return the errors in a company code. `of` is the id of the company that gets the code, or None for a new
    company.

    File names contain the code, and lists of codes are separated by commas and blanks. So a code may have only
    letters, digits, `-`, `_` and `.`.
    """
    if not all(each.isalpha() or each.isdecimal() or each in "-_." for each in code):
        return {"code": ["may contain only letters, digits, -, _ and ."]}
    return codes_like(tx, code, of)


def codes_like(tx: Transaction, code: str, of: int | None = None) -> FieldErrors:
    """Return an error if a company has this code, or a code that differs from it only in capital letters.
    Companies that are being deleted are checked too.

    The company with the id `of` may change the capital letters of its own code.
    """
    for company in store.every_company(tx):
        if company.id != of and company.code != code and company.code.casefold() == code.casefold():
            return {
                "code": [
                    (
                        f"differs from the code of company {company.code} only in capital letters: choose a "
                        "different "
                        "code"
                    )
                ]
            }
    is_taken = any(company.code == code for company in store.every_company(tx))
    return {"code": [TAKEN]} if is_taken else {}


def set_module(tx: Transaction, company_code: str, module: str, enabled: bool) -> bool:
    """Enable or disable a module. Return True if that changed anything."""
    refuse_errors(check_modules([module]))
    company = company_of_code(tx, company_code)
    changed = store.set_module(tx, company.id, module, enabled)
    if changed:
        store.write_audit(tx, f"module.{'enable' if enabled else 'disable'} {module}", company_code)
    return changed


MOST_REASON: Final = 300
"""The maximum number of characters of the reason for a suspension. Users see the reason."""


class Frozen(NamedTuple):
    company: Company
    since: str
    was_already: bool


def freeze_company(tx: Transaction, code: str) -> Frozen:
    """Freeze the company: stop its changes and webhooks until it is thawed or deleted. Raise Problem (404) if no
    company has this code.
    """
    company = company_of_code(tx, code)
    if company.frozen_at is not None:
        return Frozen(company, company.frozen_at, True)
    store.set_state(tx, company.id, {"frozen_at": tx.timestamp})
    store.write_audit(tx, "company.freeze", code)
    return Frozen(company, tx.timestamp, False)


def thaw_company(tx: Transaction, code: str) -> bool:
    """Thaw the company: end its freeze. Return True if the company was frozen. Raise Problem (404) if no company
    has this code.
    """
    company = company_of_code(tx, code)
    if company.frozen_at is None:
        return False
    store.set_state(tx, company.id, {"frozen_at": None})
    store.write_audit(tx, "company.thaw", code)
    return True


def suspend_company(tx: Transaction, code: str, because: str | None) -> bool:
    """Suspend the company, so that no user can use it until it is resumed. Return False if it was already
    suspended. Raise Problem: 404 if no company has this code, 422 if the reason is too long.
    """
    company = company_of_code(tx, code)
    if because is not None and len(because) > MOST_REASON:
        raise invalid({"reason": [f"must have at most {MOST_REASON} characters"]})
    if company.suspended_at is not None:
        return False
    store.set_state(tx, company.id, {"suspended_at": tx.timestamp, "suspended_because": because})
    store.write_audit(tx, "company.suspend", code)
    return True


def resume_company(tx: Transaction, code: str) -> bool:
    """Resume a suspended company. Return True if the company was suspended. Raise Problem (404) if no company has
    this code.
    """
    company = company_of_code(tx, code)
    if company.suspended_at is None:
        return False
    store.set_state(tx, company.id, {"suspended_at": None, "suspended_because": None})
    store.write_audit(tx, "company.resume", code)
    return True


def company_of_code(tx: Transaction, code: str) -> Company:
    """Return the company with this code. Raise Problem (404) if no company has this code."""
    known = store.companies(tx)
    for company in known:
        if company.code == code:
            return company
    raise no_such_company(code, known)


def no_such_company(code: str, known: Sequence[Company]) -> Problem:
    """Return the error for an unknown company code, with the most similar known code."""
    return not_found(f"company as {code}", similar_code(code, known))


def check_modules(modules: list[str]) -> FieldErrors:
    known = ", ".join(MODULES)
    return {
        f"modules.{place}": [f"{module} is not a module; the modules are {known}"]
        for place, module in enumerate(modules)
        if module not in MODULES
    }


def not_an_operator(tx: Transaction, code: str) -> list[str]:
    meant = similar_code(code, store.operators(tx))
    nearest = [] if meant is None else [f"{meant} is the nearest code"]
    return ["is not an operator of this installation", *nearest]


def operator_of_code(tx: Transaction, code: str | None) -> Operator | None:
    return next((operator for operator in store.operators(tx) if operator.code == code), None)
