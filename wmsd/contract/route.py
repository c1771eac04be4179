"""Routes of an interface, and the search for the route of a path."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from email.utils import format_datetime
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.near_paths import NearPaths
from wmsd.contract.operation import Operation

WORKS_ON_FOR: Final = timedelta(days=365)
"""How long a deprecated route continues to work (decisions, section 5)."""


@dataclass(frozen=True)
class Deprecation:
    """The deprecation of a route that will be removed. `since` is in UTC."""

    since: datetime

    @property
    def until(self) -> datetime:
        return self.since + WORKS_ON_FOR

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594)."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.until, usegmt=True),
        }


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    operation: Operation
    deprecation: Deprecation | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """Additional headers for every answer of this route. Only a deprecated route has such headers."""
        return {} if self.deprecation is None else self.deprecation.headers


class RouteTable:
    """Finds the routes of the requests inside a batch, because the HTTP framework routes only the whole batch."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: dict[str, list[Route]] = {}
        for route in routes:
            self._routes.setdefault(route.path, []).append(route)
        self._patterns = [(path.split("/"), path) for path in self._routes]
        self._near = NearPaths(lambda: self._routes)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return the route, and the values of the parameters in the path, by name.

        Raise Problem 404 for an unknown path, and Problem 405 with the allowed methods for an unknown method.
        """
        sent = [unquote(part, errors="replace") for part in path.split("/")]
        for pattern, known in self._patterns:
            parts = _match(pattern, sent)
            if parts is not None:
                return self._of_method(method, self._routes[known]), parts
        raise Problem("NOT_FOUND", self._near.sentence(path))

    @staticmethod
    def _of_method(method: str, routes: list[Route]) -> Route:
        for route in routes:
            if route.method == method:
                return route
        raise method_not_allowed(method, [route.method for route in routes])


def method_not_allowed(method: str, possible: Iterable[str]) -> Problem:
    allowed = sorted(possible)
    message = f"The method {method} is not possible at this address. Possible methods: {', '.join(allowed)}."
    return Problem("METHOD_NOT_ALLOWED", message, headers={"Allow": ", ".join(allowed)})


def _match(pattern: list[str], sent: list[str]) -> dict[str, str] | None:
    """Return the values of the parameters `{name}` in the pattern, or None if the path `sent` does not match."""
    if len(pattern) != len(sent):
        return None
    parts: dict[str, str] = {}
    for wanted, found in zip(pattern, sent, strict=True):
        if wanted.startswith("{") and found:
            parts[wanted.strip("{}")] = found
        elif wanted != found:
            return None
    return parts
