"""The whole service: every interface on one HTTP server."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final

from yarl import URL

from wmsd.contract.route import Route
from wmsd.dispatch.batch import BatchService, routes_of
from wmsd.dispatch.prepared_answers import as_json
from wmsd.imports.upload_jobs import ImportDesk
from wmsd.installation.live_changes import LiveChanges
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.etsm.routes import ROUTES as ETSM
from wmsd.interfaces.graphql import over_http
from wmsd.interfaces.guide.source import Source
from wmsd.interfaces.http import metrics
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.command_hints import COMPLETE
from wmsd.interfaces.http.late_routes import LateRoutes
from wmsd.interfaces.http.malformed_requests import PAGE_OF_LARGE_HEAD
from wmsd.interfaces.http.requests import read_query
from wmsd.interfaces.http.server import create_app
from wmsd.interfaces.kernel.routes import ROUTES as KERNEL
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.platform.admin_view.service import OversightService, Started
from wmsd.platform.discovery import (
    ETSM_VERSION,
    V1_VERSION,
    V2_VERSION,
    Documents,
    index,
    versions,
)
from wmsd.platform.kernel.actions import KERNEL_VERSION, KernelService
from wmsd.server.figures.live import LiveFigures
from wmsd.server.jobs import Jobs
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.server.today.quota_watch import QuotaWatch
from wmsd.server.webhook_sender import WebhookService, new_client, new_sender

ROUTES: Final[Sequence[Route]] = (*V1, *V2)
"""The routes of the REST API, version 1 and 2."""
TOLD: Final[Sequence[Route]] = (*ROUTES, *over_http.ROUTES)
"""The routes that the public index of the API lists."""
INTERNAL: Final[Sequence[Route]] = (*KERNEL, *ETSM)
"""The routes that the public index does not list. Only callers with a token for these routes can list them."""
SERVED: Final[Sequence[Route]] = (*ROUTES, *INTERNAL)


FOR_BROWSERS: Final = web.AppKey("for_browsers", LateRoutes)
LIVE_FIGURES: Final = web.AppKey("live_figures", LiveFigures)
NOT_STARTED: Final = Started()
"""The value of `started` if the service runs inside another program, such as a test."""


def service(
    installation: Installation, commands: Mapping[str, Source], started: Started = NOT_STARTED
) -> tuple[web.Application, Jobs]:
    """Return the web application and its background jobs.

    `commands` are the guide's pages about the command line. `started` has the parts that only a server program
    needs, such as scheduled backups.
    """
    described = partial(_description, installation.abilities)
    client = new_client(installation)
    today = TodayFigures(
        installation.platform,
        installation.files,
        installation.access,
        installation.clock,
        installation.time_zone,
    )
    changes = LiveChanges(installation.files)
    clock = installation.clock
    costs = installation.dispatcher.costs
    imports = ImportDesk(installation.settings.imports, installation.folder, clock, costs, started.config_file)
    jobs = Jobs(
        installation, new_sender(installation, client), today, changes, started.backups, imports, started.complete
    )
    for each in (
        OversightService(installation, jobs, started, clock.now(), clock.monotonic()),
        changes,
        WebhookService(client, clock),
        Documents(
            index=as_json(lambda: index(TOLD, installation.abilities)),
            openapi_v1=as_json(lambda: described("wmsd REST API, version 1", V1_VERSION, V1, has_events=True)),
            openapi_v2=as_json(lambda: described("wmsd REST API, version 2", V2_VERSION, V2, has_events=True)),
            openapi_etsm=as_json(lambda: described("wmsd transport integration", ETSM_VERSION, ETSM)),
            versions=versions(V1, V2),
        ),
        KernelService(installation, as_json(lambda: described("wmsd kernel interface", KERNEL_VERSION, KERNEL))),
        BatchService(installation.dispatcher, routes_of(V2), lambda path: read_query(URL(path, encoded=True))),
    ):
        installation.dispatcher.add_service(each)
    app = create_app(installation, jobs, SERVED)
    app[COMPLETE] = started.complete
    app[PAGE_OF_LARGE_HEAD] = _page_of_large_head
    figures = app[LIVE_FIGURES] = LiveFigures(installation, jobs)
    app.cleanup_ctx.append(partial(_beating, figures))
    metrics.add_to(app, installation, figures)
    over_http.add_to(app, installation)
    closed_last = AsyncExitStack()
    closed_last.push_async_callback(client.close)
    app.cleanup_ctx.append(partial(_closed, closed_last))
    app.on_shutdown.append(partial(_ended, changes))
    app[FOR_BROWSERS] = LateRoutes(
        app,
        partial(_add_for_browsers, installation, today, changes, imports, jobs.room_watch, commands, closed_last),
    )
    return app, jobs


def _add_for_browsers(
    installation: Installation,
    today: TodayFigures,
    changes: LiveChanges,
    imports: ImportDesk,
    rooms: QuotaWatch,
    commands: Mapping[str, Source],
    closed_last: AsyncExitStack,
    app: web.Application,
) -> None:
    from wmsd.interfaces import browser_service  # imported here: the server can start without it

    browser_service.add_to(app, installation, today, changes, imports, rooms, commands, closed_last)


def _page_of_large_head(languages: str, request_id: str) -> web.Response:
    from wmsd.interfaces.pages.kit.refusal_page import page_of_large_head  # imported with the pages

    return page_of_large_head(languages, request_id)


async def _ended(changes: LiveChanges, app: web.Application) -> None:
    changes.end()


async def _beating(figures: LiveFigures, app: web.Application) -> AsyncIterator[None]:
    figures.pulse.start()
    yield
    figures.pulse.stop()


async def _closed(closed_last: AsyncExitStack, app: web.Application) -> AsyncIterator[None]:
    yield
    await closed_last.aclose()


def _description(
    abilities: Mapping[str, str], title: str, version: str, routes: Sequence[Route], has_events: bool = False
) -> dict[str, Any]:
    from wmsd.interfaces.openapi.document import (
        openapi_document,  # imported here: the server can start without it
    )

    return openapi_document(title, version, routes, has_events, abilities)
