"""The kernel interface: operations on the whole installation, for the person who runs the platform."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import not_found, or_not_found
from wmsd.contract.access import MODULES
from wmsd.contract.context import Company
from wmsd.contract.operation import operation
from wmsd.db.engine.sqlite import bytes_on_disk
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.call import Reply
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.dispatch.request_counts import Requests
from wmsd.installation.open_installation import Installation
from wmsd.platform.discovery import Description
from wmsd.platform.kernel import company_figures
from wmsd.platform.kernel.company_figures import Figures
from wmsd.platform.kernel.schema import ModuleState, ModuleSwitch, Stats, Topology
from wmsd.tenants.companies import actions, store

KERNEL_VERSION: Final = "1.0.0"


@dataclass
class KernelService:
    installation: Installation
    openapi: Prepared
    walking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """A lock that a request holds while it reads the files of all companies. So only one request at a time reads
    them.
    """


kernel = partial(
    operation, answer="object", scope="kernel", limit="none", codes=("SERVICE_UNAVAILABLE", "RATE_LIMIT_EXCEEDED")
)


@kernel(tag="Discovery", returns=Description, prepared=True)
async def get_openapi_kernel(service: KernelService) -> Reply:
    """Get this description."""
    return await service.openapi.reply()


@kernel(tag="Platform", returns=Topology)
async def get_topology(service: KernelService) -> dict[str, Any]:
    """Get the operators, companies, modules and warehouses.

    A company whose file cannot be used has `available: false`. The other companies are shown as usual.
    """
    operators, known = await service.installation.platform.read(
        lambda tx: (store.operators(tx), store.companies(tx))
    )
    async with service.walking:
        warehouses = await service.installation.files.read_each([company.id for company in known], _warehouses)
    return {
        "operators": [
            {"id": each.id, "code": each.code, "name": each.name, "sandbox": each.sandbox} for each in operators
        ],
        "companies": [_place(company, warehouses.get(company.id)) for company in known],
    }


WAREHOUSES: Final = "SELECT id, code, name, active FROM warehouses ORDER BY id"


def _warehouses(tx: Transaction) -> list[dict[str, Any]]:
    return [{**row, "active": bool(row["active"])} for row in tx.records(WAREHOUSES)]


def _place(company: Company, warehouses: list[dict[str, Any]] | None) -> dict[str, Any]:
    return {
        "id": company.id,
        "code": company.code,
        "name": company.name,
        "operator_id": None if company.operator is None else company.operator.id,
        "sandbox": company.sandbox,
        "modules": {module: module in company.modules for module in MODULES},
        "available": warehouses is not None,
        "warehouses": warehouses,
    }


@kernel(tag="Platform", returns=Stats)
async def get_stats(service: KernelService) -> dict[str, Any]:
    """Get statistics by company and in total.

    Every change of data updates the statistics, so a request costs little however much data there is. Requests are
    counted in memory, and the counts are written once a minute. A crash loses the counts of the last minute.
    """
    installation = service.installation
    at = timestamps.to_text(installation.clock.now())
    known = await installation.platform.read(store.companies)
    async with service.walking:
        read = partial(company_figures.read, month=at[:7])
        figures = await installation.files.read_each([company.id for company in known], read)
    requests = await installation.requests.read()
    return await asyncio.to_thread(_stats, installation, at, known, figures, requests)


def _stats(
    installation: Installation,
    at: str,
    known: list[Company],
    figures: Mapping[int, Figures],
    requests: Mapping[int, Requests],
) -> dict[str, Any]:
    """Return the statistics in the form of Stats.

    Run this function on a thread, because it takes long with many companies.
    """
    month = at[:7]
    by_company: list[dict[str, Any]] = [
        {
            "id": company.id,
            "code": company.code,
            "available": company.id in figures,
            "requests": _requests([requests.get(company.id, Requests())]),
            "database_bytes": bytes_on_disk(installation.files.path(company.id)),
            "quota_bytes": installation.storage.quota(company),
            **company_figures.figures_as_json(figures.get(company.id), month),
        }
        for company in known
    ]
    return {
        "at": at,
        "platform_database_bytes": bytes_on_disk(installation.folder.platform_file),
        "companies": by_company,
        "total": {
            "companies": len(known),
            "companies_unavailable": len(known) - len(figures),
            "requests": _requests(requests.values()),
            "database_bytes": sum(company["database_bytes"] for company in by_company),
            **company_figures.figures_as_json(company_figures.add_up(figures.values()), month),
        },
    }


def _requests(several: Iterable[Requests]) -> dict[str, Any]:
    counted = list(several)
    since = min((each.since for each in counted if each.since is not None), default=None)
    return {"count": sum(each.count for each in counted), "since": since}


@kernel(tag="Company", returns=ModuleState)
def get_company_module(tx: Transaction, id: int, module: str) -> dict[str, Any]:
    """Check if a module is on."""
    return {"enabled": _known(module) in _company(tx, id).modules}


@kernel(tag="Company", returns=ModuleState, writes=True)
def switch_company_module(tx: Transaction, id: int, module: str, body: ModuleSwitch) -> dict[str, Any]:
    """Switch a company's module on or off.

    The change takes effect with the next request. The data of a module stays when the module is switched off.
    While `api` is off, no other module of the company can be used.
    """
    actions.set_module(tx, _company(tx, id).code, _known(module), body.enabled)
    return {"enabled": body.enabled}


def _company(tx: Transaction, id: int) -> Company:
    return or_not_found(next((company for company in store.companies(tx) if company.id == id), None), "company")


def _known(module: str) -> str:
    if module not in MODULES:
        raise not_found(f"module; the modules are {', '.join(MODULES)}")
    return module
