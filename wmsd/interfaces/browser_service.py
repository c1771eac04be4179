"""The parts of the server that only browsers need: the pages, the guide, the reference, and their services.

The server imports this module shortly after the API has started (see `service`).
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

from wmsd.http_client.lazy_client import LazyClient
from wmsd.imports.actions import ImportService
from wmsd.imports.upload_jobs import ImportDesk
from wmsd.installation.live_changes import LiveChanges
from wmsd.installation.open_installation import Installation, new_guard
from wmsd.interfaces.guide import pages as guide
from wmsd.interfaces.guide.source import Source
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.openapi.document import openapi_document
from wmsd.interfaces.pages import routes as pages
from wmsd.interfaces.pages.kit import routing
from wmsd.interfaces.reference import routes as reference
from wmsd.interfaces.reference.operations import Reference, Version, reference_of
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.platform.company_policies import CompanyFilesService
from wmsd.platform.company_search import CompanySearchService
from wmsd.platform.discovery import V1_VERSION, V2_VERSION
from wmsd.platform.today.actions import TodayService
from wmsd.platform.today.overviews import Overviews
from wmsd.server.figures.top_costs import costs_now
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.server.today.quota_watch import QuotaWatch
from wmsd.tenants.sign_on.provider_requests import WANTED_BYTES
from wmsd.tenants.sign_on.service import SignOnService


def add_to(
    app: web.Application,
    installation: Installation,
    today: TodayFigures,
    changes: LiveChanges,
    imports: ImportDesk,
    rooms: QuotaWatch,
    commands: Mapping[str, Source],
    closed_last: AsyncExitStack,
) -> None:
    """Add the routes for browsers to `app`. The services of these routes are added to the installation's
    dispatcher.

    `closed_last` is closed when the server stops. The function registers the HTTP client for sign-on providers
    with `closed_last`, so that this client is closed too.
    """
    # requests to sign-on providers pass the same guard as webhook deliveries, but with separate settings
    sign_on = installation.settings.sign_on
    provider_client = LazyClient(new_guard(installation.settings, "sign_on"), sign_on.ca_file, wanted=WANTED_BYTES)
    closed_last.push_async_callback(provider_client.close)
    for service in (
        ImportService(imports, installation.storage),
        TodayService(
            today,
            Overviews(today, installation.access),
            installation.dispatcher.admission,
            rooms,
            partial(costs_now, installation),
        ),
        CompanySearchService(
            installation.files,
            installation.access,
            installation.dispatcher.admission,
            installation.dispatcher.work,
            installation.clock,
        ),
        CompanyFilesService(installation.platform, installation.files, installation.freezes),
        SignOnService(
            installation.platform, installation.clock, installation.ids, provider_client, sign_on.providers
        ),
    ):
        installation.dispatcher.add_service(service)
    reference.add_to(app, installation, partial(_reference, installation.abilities))
    guide.add_to(app, installation, commands)
    pages.add_to(app, installation, changes)
    routing.refuse_all_else(app)


def _reference(abilities: Mapping[str, str]) -> Reference:
    versions = [
        Version(name, routes, openapi_document(name, number, routes, True, abilities))
        for name, routes, number in (("v1", V1, V1_VERSION), ("v2", V2, V2_VERSION))
    ]
    return reference_of(versions, abilities)
