"""The routes of the reference and of the try-out."""

from collections.abc import Callable

from wmsd.base.lazy_value import LazyValue
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import REQUEST_LOG, trusted_proxies
from wmsd.interfaces.pages.kit.page_client import PageClient
from wmsd.interfaces.pages.kit.routing import add_page
from wmsd.interfaces.reference.operations import Reference
from wmsd.interfaces.reference.pages import Pages
from wmsd.interfaces.reference.try_graphql_page import TryingGraphql
from wmsd.interfaces.reference.try_out_call import Sender
from wmsd.interfaces.reference.try_out_page import Trying


def add_to(app: web.Application, installation: Installation, make: Callable[[], Reference]) -> None:
    """Add the routes to `app`. `make` creates the reference, on a thread, when the first page is requested."""
    reference, sender = LazyValue(make), Sender(installation, app[REQUEST_LOG])
    door = PageClient(installation)
    Pages(reference, trusted_proxies(installation), door.work).add_to(app)
    for path, tried in (
        ("/try/graphql", TryingGraphql(door, reference, sender)),
        ("/try/{version:v[0-9]}/{operation:[a-z0-9_]{1,80}}", Trying(door, reference, sender)),
    ):
        add_page(app, "GET", path, tried.show)
        add_page(app, "POST", path, tried.do)
