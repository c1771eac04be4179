"""The whole service: every interface on one HTTP server."""

from collections.abc import Sequence
from typing import Final

from aiohttp import web

from wmsd.app.discovery import Documents, HealthDesk, index
from wmsd.app.jobs import Jobs
from wmsd.app.site import Site
from wmsd.base.route import Route
from wmsd.interfaces.http import openapi, pages
from wmsd.interfaces.http.reference import reference
from wmsd.interfaces.http.server import add_not_found, make_app
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2

ROUTES: Final[Sequence[Route]] = (*V1, *V2)


def service(site: Site) -> tuple[web.Application, Jobs]:
    """The application, and the jobs that are to run beside it."""
    jobs = Jobs(site)
    site.door.add_desk(HealthDesk(site, jobs))
    site.door.add_desk(
        Documents(
            index=index([(route.method, route.path, route.operation) for route in ROUTES]),
            openapi_v1=openapi.document("wmsd REST API, version 1", "1.0.0", V1),
            openapi_v2=openapi.document("wmsd REST API, version 2", "2.0.0", V2),
        )
    )
    app = make_app(site, jobs, ROUTES)
    pages.add_to(app, site, lambda: reference(ROUTES))
    add_not_found(app)
    return app, jobs
