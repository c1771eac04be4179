"""Information about the service: index, health, meta and the OpenAPI descriptions."""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from wmsd import __version__
from wmsd.base.dataclass import dataclass
from wmsd.contract.access import MODULES, needed_ability
from wmsd.contract.context import Caller, Company
from wmsd.contract.fields import Model
from wmsd.contract.operation import operation
from wmsd.contract.results import Shown
from wmsd.contract.route import Route
from wmsd.dispatch.call import Call, Reply
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.platform.admin_view.service import OversightService
from wmsd.server.health import check_health

CHANGELOG: Final = "/docs/changelog"
V1_VERSION: Final = "1.0.0"
V2_VERSION: Final = "2.0.0"
ETSM_VERSION: Final = "1.0.0"


@dataclass(frozen=True, slots=True)
class Documents:
    """The index and the OpenAPI descriptions, prepared as answers. `interfaces/service.py` creates them, because
    only that module knows every route.
    """

    index: Prepared
    openapi_v1: Prepared
    openapi_v2: Prepared
    openapi_etsm: Prepared
    """The description of the transport integration. Only a site's bearer token can read it."""
    versions: Sequence[Mapping[str, str]]
    """The versions of the API. Each has the form of ApiVersion."""


class Index(Model):
    """Every endpoint of the installation."""

    name: str
    version: str
    documentation: str
    endpoints: list[dict[str, Any]]


class Check(Model):
    ok: bool


class Checks(Model):
    database: Check
    cache: Check
    job_queue: Check
    disk: Check
    webhooks: Check
    clock: Check
    backup: Check
    keys: Check
    replica: Check | None = Field(default=None, description="Only where replication is switched on.")
    recovery: Check | None = Field(default=None, description="Only until all tasks after a restore are settled.")
    moves: Check | None = Field(
        default=None, description="Only while a company is frozen because it is being moved."
    )


class Health(Model):
    """The result of each check. `degraded` means that a part of the service does not work, but the service as a
    whole works.
    """

    status: Literal["ok", "degraded", "unavailable"]
    checks: Checks


class ApiVersion(Model):
    version: str
    state: Literal["current", "supported", "deprecated"]
    path: str


class Meta(Model):
    """The versions of the API, and the modules of the company that the request names, if it names one."""

    version: str
    versions: list[ApiVersion]
    features: dict[str, bool] | None
    changelog_url: str


class Description(Model):
    """An OpenAPI 3.1 document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


open_to_all = partial(operation, tag="Discovery", answer="object", scope="platform", limit="open", signed_in=False)


@open_to_all(returns=Index, ignores_query=True, prepared=True)
async def get_index(documents: Documents) -> Reply:
    """List every endpoint."""
    return await documents.index.reply()


@open_to_all(returns=Health, limit="health", ignores_query=True, also_shown_with=503)
async def get_health(service: OversightService, caller: Caller | None) -> Shown:
    """Check the health of the service.

    The checks cover the database, the cache, the job queue, the disk, webhooks, the clock, backups and keys. The
    status is 503 if the service as a whole cannot work.

    The status is 200 and `degraded` if one company's file is unavailable, or if the disk is filling up. The
    service is also `degraded` if no backup contains the keys of the installation, or after the clock was set.
    Three more states count as `degraded`: wmsd has switched off a webhook that failed for days, a company has been
    frozen for over a day, or tasks after a restore are still open.

    With a token, the answer has more numbers. With the token of a platform admin, the answer also names the
    companies whose files cannot be used or written.
    """
    status, found = await check_health(service.installation, service.jobs, caller is not None, caller)
    return Shown(status, found)


@open_to_all(returns=Description, prepared=True)
async def get_openapi_v1(documents: Documents) -> Reply:
    """Get the OpenAPI description of version 1."""
    return await documents.openapi_v1.reply()


@open_to_all(returns=Description, prepared=True)
async def get_openapi_v2(documents: Documents) -> Reply:
    """Get the OpenAPI description of version 2."""
    return await documents.openapi_v2.reply()


@operation(tag="Transports", answer="object", returns=Description, scope="site", module="outbound", prepared=True)
async def get_openapi_etsm(documents: Documents) -> Reply:
    """Get this description of the transport integration."""
    return await documents.openapi_etsm.reply()


@open_to_all(returns=Meta, codes=("UNAUTHORIZED",))
async def get_meta(documents: Documents, company: Company | None, call: Call) -> dict[str, Any]:
    """Get the versions and the feature flags.

    With a token and `X-Company-Id`, `features` says which modules are on for that company. Otherwise, `features`
    is null.
    """
    features = None if company is None else {module: module in company.modules for module in MODULES}
    return {
        "version": V2_VERSION,
        "versions": documents.versions,
        "features": features,
        "changelog_url": f"{call.origin}{CHANGELOG}",
    }


def versions(v1: Iterable[Route], v2: Iterable[Route]) -> list[dict[str, str]]:
    """Return the versions of the API, in the form of ApiVersion.

    A version is deprecated if all its routes are deprecated.
    """
    return [
        {"version": "1", "state": _state(v1, "supported"), "path": "/api"},
        {"version": "2", "state": _state(v2, "current"), "path": "/api/v2"},
    ]


def _state(routes: Iterable[Route], otherwise: str) -> str:
    return "deprecated" if all(route.deprecation for route in routes) else otherwise


def index(routes: Iterable[Route], abilities: Container[str]) -> dict[str, Any]:
    """Return the index of the endpoints in `routes`. `abilities` are the abilities in force in the
    installation.
    """
    return {
        "name": "wmsd",
        "version": __version__,
        "documentation": "/docs",
        "endpoints": [
            {
                "method": route.method,
                "path": route.path,
                "purpose": route.operation.summary,
                "ability": needed_ability(route.operation.ability, abilities),
            }
            for route in routes
        ],
    }
