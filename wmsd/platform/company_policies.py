"""The policies of a company: how much may be received beyond an order, and the minimum stock.

Policies are stored in the company's file, and their changes in the audit of the installation. A change is written
to the company's file first.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.base.quantity import to_text
from wmsd.contract.context import Caller, Company
from wmsd.contract.fields import Input, Model
from wmsd.contract.results import Record
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.company_files import CompanyFiles
from wmsd.dispatch import preconditions
from wmsd.dispatch.call import Call
from wmsd.dispatch.freezes import Freezes
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.record_lists import for_company_admins
from wmsd.warehouse.purchase_orders import store as purchase_orders
from wmsd.warehouse.purchase_orders.schema import InboundRules
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.schema import StockRules


class Policy(NamedTuple):
    """A policy: the model with its field, and the functions that read and write the company's own value.

    Values are in millionths. `built_in` is the value if the company has not set one. `is_optional` is True if the
    command line can remove the company's own value.
    """

    model: type[Input]
    read: Callable[[Transaction], int | None]
    write: Callable[[Transaction, int | None], None]
    built_in: int | None = None
    is_optional: bool = False

    def in_force(self, own: int | None) -> int | None:
        return self.built_in if own is None else own


POLICIES: Final[Mapping[str, Policy]] = {
    "over_receipt_pct": Policy(
        InboundRules,
        purchase_orders.own_over_receipt_pct,
        purchase_orders.set_over_receipt_pct,
        purchase_orders.OVER_RECEIPT_BUILT_IN,
    ),
    "min_stock": Policy(StockRules, stock.min_stock, stock.set_min_stock, is_optional=True),
}


class CompanyPolicies(StockRules, InboundRules):
    """The policies of a company."""


class CompanyPoliciesShown(Model):
    over_receipt_pct: float
    min_stock: float | None


@dataclass(frozen=True, slots=True)
class CompanyFilesService:
    """What the operations on the policies and sites of a company use: platform.db and the companies' files."""

    platform: Database
    files: CompanyFiles
    freezes: Freezes


def policies_as_json(tx: Transaction) -> dict[str, object]:
    """Return the value in force of each policy, by name, as a decimal number."""
    return {name: as_number(value) for name, value in _values(tx).items()}


def as_number(value: int | None) -> float | None:
    number: float | None = None if value is None else json.loads(to_text(value))
    return number


def own(tx: Transaction) -> dict[str, int | None]:
    """Return the policies that the company itself has set, in millionths. A policy that the company has not set is
    None.
    """
    return {name: policy.read(tx) for name, policy in POLICIES.items()}


def _values(tx: Transaction) -> dict[str, int | None]:
    return {name: POLICIES[name].in_force(value) for name, value in own(tx).items()}


def _record(tx: Transaction) -> Record:
    fields = (f'"{name}":{"null" if value is None else to_text(value)}' for name, value in _values(tx).items())
    return Record(0, f"{{{','.join(fields)}}}")


@for_company_admins(answer="record", returns=CompanyPoliciesShown, codes=("SERVICE_UNAVAILABLE",))
async def get_company_policies(service: CompanyFilesService, caller: Caller, id: int) -> Record:
    """Get the policies of a company."""
    await _company(service, caller, id)
    return await (await service.files.get(id)).read(_record)


async def _company(service: CompanyFilesService, caller: Caller, company_id: int) -> Company:
    """Return the company. Raise Problem (404) if it does not exist, or if the caller may not use it."""
    known = await service.platform.read(companies.companies)
    usable = (each for each in known if each.id == company_id and caller.may_use(company_id))
    return or_not_found(next(usable, None), "company")


@for_company_admins(
    answer="record",
    returns=CompanyPoliciesShown,
    precondition=_record,
    codes=("SERVICE_UNAVAILABLE", "PRECONDITION_FAILED"),
)
async def change_company_policies(
    service: CompanyFilesService, caller: Caller, call: Call, id: int, body: CompanyPolicies
) -> Record:
    """Change the policies of a company.

    The new policies apply from the next request on.
    """
    company = await _company(service, caller, id)
    actor = replace(caller.actor, address=call.address)

    def write(tx: Transaction) -> tuple[dict[str, object], Record]:
        preconditions.check(tx, call, {})
        before = policies_as_json(tx)
        for name, policy in POLICIES.items():
            policy.write(tx, getattr(body, name))
        return before, _record(tx)

    with service.freezes.flow(company):
        before, after = await (await service.files.get(id)).write(write, actor)
    changed: dict[str, Any] = companies.field_differences(before, json.loads(after.json))
    await service.platform.write(
        lambda tx: companies.write_audit(tx, "company.policies", company.code, changed), actor, is_quiet=True
    )
    return after
