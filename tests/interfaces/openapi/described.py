"""The descriptions of all interfaces, in the form that tests walk through."""

from collections.abc import Iterator
from typing import Any, Final

from wmsd.contract.route import Route
from wmsd.interfaces.etsm.routes import ROUTES as ETSM
from wmsd.interfaces.kernel.routes import ROUTES as KERNEL
from wmsd.interfaces.openapi.document import openapi_document
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2

ROUTES: Final = {"v1": V1, "v2": V2, "kernel": KERNEL, "etsm": ETSM}
DOCUMENTS: Final[dict[str, dict[str, Any]]] = {
    name: openapi_document(name, "1.0.0", routes, has_events=name in ("v1", "v2"))
    for name, routes in ROUTES.items()
}


def operations(name: str) -> Iterator[tuple[Route, dict[str, Any]]]:
    for route in ROUTES[name]:
        yield route, DOCUMENTS[name]["paths"][route.path][route.method.lower()]


def contents(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each body and each successful reply, with its place."""
    for route, operation in operations(name):
        if "requestBody" in operation:
            yield f"{route.method} {route.path}", operation["requestBody"]["content"]["application/json"]
        for status, response in operation["responses"].items():
            if status.startswith("2") and "content" in response:
                yield f"{route.method} {route.path} {status}", response["content"]["application/json"]
    for event, webhook in DOCUMENTS[name]["components"].get("pathItems", {}).items():
        yield event, webhook["post"]["requestBody"]["content"]["application/json"]


def inside(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a description, except examples."""
    if isinstance(value, dict):
        yield value
        for key, each in value.items():
            if key not in ("example", "examples"):
                yield from inside(each)
    elif isinstance(value, list):
        for each in value:
            yield from inside(each)
