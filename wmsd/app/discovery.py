"""What the service says of itself: index, health, meta and the machine-readable descriptions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Literal

from wmsd import __version__
from wmsd.app.health import health
from wmsd.app.jobs import Jobs
from wmsd.app.site import Site
from wmsd.base.access import MODULES
from wmsd.base.context import Company
from wmsd.base.fields import Model
from wmsd.base.operation import Operation, operation
from wmsd.base.results import Shown

CHANGELOG: Final = "/docs/changelog"
V1_VERSION: Final = "1.0.0"
V2_VERSION: Final = "2.0.0"
ETSM_VERSION: Final = "1.0.0"


@dataclass
class Documents:
    """Made by the composition of the interfaces, which alone knows every route; each when first asked for."""

    make_index: Callable[[], dict[str, Any]]
    make_openapi_v1: Callable[[], dict[str, Any]]
    make_openapi_v2: Callable[[], dict[str, Any]]

    @cached_property
    def index(self) -> dict[str, Any]:
        return self.make_index()

    @cached_property
    def openapi_v1(self) -> dict[str, Any]:
        return self.make_openapi_v1()

    @cached_property
    def openapi_v2(self) -> dict[str, Any]:
        return self.make_openapi_v2()


@dataclass
class SiteDocuments:
    """What only the bearer of a site is shown."""

    make_openapi: Callable[[], dict[str, Any]]

    @cached_property
    def openapi(self) -> dict[str, Any]:
        return self.make_openapi()


@dataclass(frozen=True, slots=True)
class HealthDesk:
    site: Site
    jobs: Jobs


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


class Health(Model):
    """What each check found. `degraded`: some company's file is unavailable, the others go on."""

    status: Literal["ok", "degraded", "unavailable"]
    checks: Checks


class VersionState(Model):
    version: str
    state: Literal["current", "supported", "deprecated"]
    path: str


class Meta(Model):
    """The versions, and the modules of the company that the request names, if any."""

    version: str
    versions: list[VersionState]
    features: dict[str, bool] | None
    changelog_url: str


class Description(Model):
    """An OpenAPI 3.1 document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


open_to_all = partial(operation, tag="Discovery", answer="object", scope="platform", limit="none", signed_in=False)


@open_to_all(returns=Index, ignores_query=True)
async def get_index(documents: Documents) -> dict[str, Any]:
    """List every endpoint."""
    return documents.index


@open_to_all(returns=Health, ignores_query=True, also_shown_with=503)
async def get_health(desk: HealthDesk) -> Shown:
    """Check database, cache, job queue, disk and webhooks.

    503 when the service as a whole cannot work. One company's unavailable file only degrades it, as does a webhook
    subscription that the service has switched off because it failed for days.
    """
    status, found = await health(desk.site, desk.jobs)
    return Shown(status, found)


@open_to_all(returns=Description)
async def get_openapi_v1(documents: Documents) -> dict[str, Any]:
    """Get this description of version 1."""
    return documents.openapi_v1


@open_to_all(returns=Description)
async def get_openapi_v2(documents: Documents) -> dict[str, Any]:
    """Get this description of version 2."""
    return documents.openapi_v2


@operation(tag="Transports", answer="object", returns=Description, scope="site", module="outbound")
async def get_openapi_etsm(documents: SiteDocuments) -> dict[str, Any]:
    """Get this description of the transport integration."""
    return documents.openapi


@open_to_all(returns=Meta, codes=("UNAUTHORIZED",))
async def get_meta(documents: Documents, company: Company | None) -> dict[str, Any]:
    """Get the versions and the feature flags.

    With a token and `X-Company-Id`, `features` says which modules are on for that company; else it is null.
    """
    features = None if company is None else {module: module in company.modules for module in MODULES}
    return {
        "version": V2_VERSION,
        "versions": [
            {"version": "1", "state": "supported", "path": "/api"},
            {"version": "2", "state": "current", "path": "/api/v2"},
        ],
        "features": features,
        "changelog_url": CHANGELOG,
    }


def index(routes: list[tuple[str, str, Operation]]) -> dict[str, Any]:
    """The index of (method, path, operation) lines."""
    return {
        "name": "wmsd",
        "version": __version__,
        "documentation": "/docs",
        "endpoints": [
            {"method": method, "path": path, "purpose": declared.summary, "ability": declared.ability}
            for method, path, declared in routes
        ],
    }
