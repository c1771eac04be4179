"""What browsers are served: the pages, the guide, the reference, and what only they ask for. It is imported once
the API is served (see `service`).
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

from wmsd.app.company_policies import PolicyService
from wmsd.app.discovery import V1_VERSION, V2_VERSION
from wmsd.app.imports.actions import ImportService
from wmsd.app.imports.desk import ImportDesk
from wmsd.app.installation import Installation
from wmsd.app.live_changes import LiveChanges
from wmsd.app.measuring.costs_now import costs_now
from wmsd.app.room_watch import RoomWatch
from wmsd.app.sign_on import new_sign_on_client, new_sign_on_service
from wmsd.app.today.actions import TodayService
from wmsd.app.today.keeping import TodayFigures
from wmsd.app.today.overviews import Overviews
from wmsd.app.transport_sites import SiteService
from wmsd.interfaces.http.web import web
from wmsd.interfaces.openapi.document import document
from wmsd.interfaces.pages import routes as pages
from wmsd.interfaces.pages import visits
from wmsd.interfaces.pages.guide import serving as guide
from wmsd.interfaces.pages.guide.source import Source
from wmsd.interfaces.reference import routes as reference
from wmsd.interfaces.reference.described import Reference, Version, reference_of
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2


def add_to(
    app: web.Application,
    installation: Installation,
    today: TodayFigures,
    changes: LiveChanges,
    imports: ImportDesk,
    rooms: RoomWatch,
    commands: Mapping[str, Source],
    closed_last: AsyncExitStack,
) -> None:
    """Adds the routes to `app`, and to the installation's dispatcher the services behind them. `closed_last` gets
    what must be closed when the server stops.
    """
    provider_client = new_sign_on_client(installation)
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
        SiteService(installation.platform, installation.files),
        PolicyService(installation.platform, installation.files, installation.freezes),
        new_sign_on_service(installation, provider_client),
    ):
        installation.dispatcher.add_service(service)
    reference.add_to(app, installation, partial(_reference, installation.abilities))
    guide.add_to(app, installation, commands)
    pages.add_to(app, installation, changes)
    visits.refuse_all_else(app)


def _reference(abilities: Mapping[str, str]) -> Reference:
    versions = [
        Version(name, routes, document(name, number, routes, True, abilities))
        for name, routes, number in (("v1", V1, V1_VERSION), ("v2", V2, V2_VERSION))
    ]
    return reference_of(versions, abilities)
