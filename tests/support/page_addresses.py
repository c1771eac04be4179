"""Every address of the pages, built from the served routes and from existing values for each part
of an address.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from string import Formatter
from typing import Final

from aiohttp import web

from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.paper.prints import PRINTS
from wmsd.interfaces.service import FOR_BROWSERS

NO_PAGES: Final = ("/api", "/openapi", "/docs", "/pages/{name}", "/{anything}", "/changelog")
METHODS: Final = ("GET", "POST")
IN_COMPANY: Final = "/companies/{company}/"
KINDS: Final[Mapping[str, str]] = {"webhooks": "webhook with a log", "returns": "return"}
"""The kind of record that a resource's addresses need, where the kind does not follow from the resource's name."""


@dataclass(frozen=True)
class Address:
    method: str
    path: str
    route: str
    resource: Resource | None = None

    @property
    def is_of_company(self) -> bool:
        return self.route.startswith(IN_COMPANY) or self.route == IN_COMPANY[:-1]


def addresses(app: web.Application, company: int, there: Mapping[str, str]) -> Iterator[Address]:
    """Yield the addresses of all pages. `there` has the ids of a company's records, by kind."""
    for method, route in sorted(_routes(app)):
        names = {name for _, name, _, _ in Formatter().parse(route) if name}
        for resource in _resources(route) if "resource" in names else [None]:
            parts = {name: _parts(name, route, resource, company, there) for name in sorted(names)}
            for values in product(*parts.values()):
                path = route.format(**dict(zip(parts, values, strict=True)))
                yield Address(method, path, route, resource)


def _routes(app: web.Application) -> set[tuple[str, str]]:
    return {
        (each.method, each.resource.canonical)
        for each in app[FOR_BROWSERS].routes()
        if each.method in METHODS and each.resource and not each.resource.canonical.startswith(NO_PAGES)
    }


def _resources(route: str) -> tuple[Resource, ...]:
    return RESOURCES if route.startswith(IN_COMPANY) else ADMINISTRATION


def _parts(name: str, route: str, resource: Resource | None, company: int, there: Mapping[str, str]) -> list[str]:
    """Return the values for a part of an address. A new part fails here until it has a value."""
    match name:
        case "company":
            return [str(company)]
        case "resource":
            assert resource is not None
            return [resource.name]
        case "id" if resource is not None and route.startswith(IN_COMPANY):
            kind = KINDS.get(resource.name) or resource.name.removesuffix("s").replace("-", " ")
            return [there.get(kind, "1")]
        case "id" if "/webhooks/" in route:
            return [there["webhook with a log"]]
        case "id":
            return ["1"]
        case "act":
            assert resource is not None
            own = (each for each in resource.acts if not each.leads_to)
            return [each.name for each in own if each.makes_one != ("{id}" in route)]
        case "print":
            assert resource is not None
            return [each.name for each in PRINTS.get(resource.name, ())]
        case "sha256":
            return ["0" * 64]
        case "version":
            return ["v1"]
        case "operation":
            return ["get_article", "create_article"]
        case "delivery":
            return [there["delivery"]]
        case "received":
            return ["1"]
        case "request_id" | "provider":
            return ["nothing"]
        case "kind":
            return ["articles"]
        case "upload":
            return ["x" * 22]
    raise AssertionError(f"{route}: what is {name}?")
