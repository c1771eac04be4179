"""The whole service: every interface on one HTTP server."""

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from yarl import URL

from wmsd.app.batch import BatchService, routes_of
from wmsd.app.company_policies import PolicyService
from wmsd.app.discovery import (
    ETSM_VERSION,
    V1_VERSION,
    V2_VERSION,
    Documents,
    HealthService,
    SiteDocuments,
    index,
    versions,
)
from wmsd.app.imports.actions import ImportService
from wmsd.app.imports.desk import ImportDesk
from wmsd.app.installation import Installation
from wmsd.app.jobs import Jobs
from wmsd.app.kernel import KERNEL_VERSION, KernelService
from wmsd.app.live_changes import LiveChanges
from wmsd.app.measuring.reading import LiveFigures
from wmsd.app.oversight.service import OversightService, Started
from wmsd.app.prepared import as_json
from wmsd.app.sign_on import new_sign_on_client, new_sign_on_service
from wmsd.app.today.actions import TodayService
from wmsd.app.today.keeping import TodayFigures
from wmsd.app.transport_sites import SiteService
from wmsd.app.webhooks import WebhookService, new_client, new_sender
from wmsd.base.route import Route
from wmsd.interfaces.etsm.routes import ROUTES as ETSM
from wmsd.interfaces.graphql import http as graphql
from wmsd.interfaces.http import metrics
from wmsd.interfaces.http.requests import read_query
from wmsd.interfaces.http.server import add_not_found, make_app
from wmsd.interfaces.http.web import web
from wmsd.interfaces.kernel.routes import ROUTES as KERNEL
from wmsd.interfaces.pages import routes as house
from wmsd.interfaces.pages.guide import serving as guide
from wmsd.interfaces.pages.guide.source import Source
from wmsd.interfaces.reference import routes as reference
from wmsd.interfaces.reference.described import Reference, Version, reference_of
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.webhooks.lazy_client import LazyClient

ROUTES: Final[Sequence[Route]] = (*V1, *V2)
"""The routes in the descriptions of REST."""
TOLD: Final[Sequence[Route]] = (*ROUTES, *graphql.ROUTES)
"""The routes in the public index."""
INTERNAL: Final[Sequence[Route]] = (*KERNEL, *ETSM)
"""Routes that are served, but listed only for holders of their tokens."""
SERVED: Final[Sequence[Route]] = (*ROUTES, *INTERNAL)


LIVE_FIGURES: Final = web.AppKey("live_figures", LiveFigures)
NOT_STARTED: Final = Started()
"""Of a service that is no program of its own."""


def service(
    installation: Installation, commands: Source, started: Started = NOT_STARTED
) -> tuple[web.Application, Jobs]:
    """The application, and the jobs to run beside it. `commands` is the guide's page on the command line."""
    described = partial(_description, installation.abilities)
    client = new_client(installation)
    today = TodayFigures(installation.platform, installation.files, installation.access, installation.clock)
    changes = LiveChanges(installation.files)
    clock = installation.clock
    imports = ImportDesk(installation.settings.imports, installation.folder, clock, started.config_file)
    jobs = Jobs(installation, new_sender(installation, client), today, changes, started.backups, imports)
    oversight = OversightService(installation, jobs, started, clock.now(), clock.monotonic())
    installation.dispatcher.add_service(oversight)
    admission = installation.dispatcher.admission
    installation.dispatcher.add_service(ImportService(imports, installation.storage))
    installation.dispatcher.add_service(TodayService(today, installation.access, admission))
    installation.dispatcher.add_service(changes)
    installation.dispatcher.add_service(SiteService(installation.platform, installation.files))
    installation.dispatcher.add_service(PolicyService(installation.platform, installation.files))
    installation.dispatcher.add_service(WebhookService(client, installation.clock, installation.vault))
    provider_client = new_sign_on_client(installation)
    installation.dispatcher.add_service(new_sign_on_service(installation, provider_client))
    installation.dispatcher.add_service(HealthService(installation, jobs))
    installation.dispatcher.add_service(
        Documents(
            index=as_json(lambda: index(TOLD, installation.abilities)),
            openapi_v1=as_json(lambda: described("wmsd REST API, version 1", V1_VERSION, V1, has_events=True)),
            openapi_v2=as_json(lambda: described("wmsd REST API, version 2", V2_VERSION, V2, has_events=True)),
            versions=versions(V1, V2),
        )
    )
    installation.dispatcher.add_service(
        SiteDocuments(as_json(lambda: described("wmsd transport integration", ETSM_VERSION, ETSM))),
    )
    installation.dispatcher.add_service(
        KernelService(installation, as_json(lambda: described("wmsd kernel interface", KERNEL_VERSION, KERNEL))),
    )
    installation.dispatcher.add_service(
        BatchService(installation.dispatcher, routes_of(V2), lambda path: read_query(URL(path, encoded=True)))
    )
    app = make_app(installation, jobs, SERVED)
    figures = app[LIVE_FIGURES] = LiveFigures(installation, jobs)
    app.cleanup_ctx.append(partial(_beating, figures))
    metrics.add_to(app, installation, figures)
    app.cleanup_ctx.extend(partial(_closed, each) for each in (client, provider_client))
    graphql.add_to(app, installation)
    reference.add_to(app, installation, partial(_reference, installation.abilities))
    guide.add_to(app, installation, {"commands": commands})
    house.add_to(app, installation, changes)
    app.on_shutdown.append(partial(_ended, changes))
    add_not_found(app)
    return app, jobs


async def _ended(changes: LiveChanges, app: web.Application) -> None:
    changes.end()


async def _beating(figures: LiveFigures, app: web.Application) -> AsyncIterator[None]:
    figures.pulse.start()
    yield
    figures.pulse.stop()


async def _closed(client: LazyClient, app: web.Application) -> AsyncIterator[None]:
    yield
    await client.close()


def _description(
    abilities: Mapping[str, str], title: str, version: str, routes: Sequence[Route], has_events: bool = False
) -> dict[str, Any]:
    from wmsd.interfaces.openapi.document import document  # imported here, because a start does not need it

    return document(title, version, routes, has_events, abilities)


def _reference(abilities: Mapping[str, str]) -> Reference:
    documents = (("v1", V1, V1_VERSION), ("v2", V2, V2_VERSION))
    versions = (
        Version(name, routes, _description(abilities, name, number, routes, has_events=True))
        for name, routes, number in documents
    )
    return reference_of(list(versions), abilities)
