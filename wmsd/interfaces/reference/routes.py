"""The addresses of the reference and of the try-out."""

from collections.abc import Callable

from wmsd.base.lazy_value import LazyValue
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import REQUEST_LOG, trusted_proxies
from wmsd.interfaces.pages.kit.page_client import PageClient
from wmsd.interfaces.pages.kit.routing import add_page, add_visited
from wmsd.interfaces.reference.graphql_pages import SCHEMA, TRY, Editor, SchemaBrowser
from wmsd.interfaces.reference.operations import ADDRESS, Reference
from wmsd.interfaces.reference.pages import Pages
from wmsd.interfaces.reference.try_out_call import Sender
from wmsd.interfaces.reference.try_out_page import Trying


def add_to(app: web.Application, installation: Installation, make: Callable[[], Reference]) -> None:
    """`make` makes the reference; it runs on a thread, when somebody first asks for it."""
    reference, sender = LazyValue(make), Sender(installation, app[REQUEST_LOG])
    door = PageClient(installation)
    trying = Trying(door, reference, sender)
    an_operation = "/try/{version:v[0-9]}/{operation:[a-z0-9_]{1,80}}"
    schema, editor = SchemaBrowser(reference), Editor(door, reference, sender)
    add_visited(app, "guide", "GET", f"{ADDRESS}/graphql", schema.overview)
    add_visited(app, "guide", "GET", f"{ADDRESS}/graphql/{{type:[A-Za-z0-9]{{1,80}}}}", schema.type)
    add_visited(app, "guide", "GET", SCHEMA, schema.short)
    for method, path, handler in (
        ("GET", an_operation, trying.show),
        ("POST", an_operation, trying.do),
        ("GET", TRY, editor.show),
        ("POST", TRY, editor.do),
    ):
        add_page(app, method, path, handler)
    Pages(reference, trusted_proxies(installation), door.work).add_to(app)
