"""Finds routes with a dict. This is faster than aiohttp, which tries several routes for a request, and creates
objects that wmsd does not need.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from yarl import URL

from wmsd.interfaces.http.aiohttp_web import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ExpectHandler = Callable[[web.Request], Awaitable[None]]
EVERY_PATH: Final = "/{path:.*}"
PLAIN: Final = re.compile(r"[\w/.,:;=@!$&'()*+~-]*", re.ASCII)
"""The pattern for a path that needs no decoding. aiohttp finds the routes of all other paths."""
ANYTHING: Final = "{}"


PARTS: Final = web.RequestKey("parts", dict[str, str])


class Known(NamedTuple):
    handler: Handler
    names: tuple[str, ...]
    """The names of the path parameters."""


def parts_of(request: web.Request) -> Mapping[str, str]:
    """Return the values of the path's parameters, by name."""
    found = request.get(PARTS)
    return request.match_info if found is None else found


class RouteTable(web.AbstractResource):
    """The routes of an application, in a dict for paths that need no decoding.

    For all other paths, a router of aiohttp finds the routes. It is created when it is first needed, because its
    creation is slow. For the application, this table is one resource that matches every path.
    """

    def __init__(self, expect_handler: ExpectHandler) -> None:
        """Create an empty table. aiohttp calls `expect_handler` for requests with the header Expect."""
        super().__init__()
        self._expect_handler = expect_handler
        self._declared: list[tuple[str, str, Handler]] = []
        self._known: dict[tuple[str, ...], Known] = {}
        """The routes by method and parts of the path, with ANYTHING in place of each parameter."""
        self._places: dict[int, list[tuple[int, ...]]] = {}
        """The patterns of known paths, by the number of parts in the path. A pattern is a list of the positions
        that are parameters. Patterns that begin with more fixed parts come first, as in aiohttp.
        """
        self._paths: set[tuple[str, ...]] = set()
        """The parts of each path, with ANYTHING in place of each parameter."""
        self._has_patterns = False
        """Whether a parameter of a path has a pattern. Only aiohttp can find such a path."""

    def add(self, method: str, path: str, handler: Handler) -> None:
        """Add a route.

        Only aiohttp can find a route that accepts any method, or that has a pattern for a parameter of its path.
        """
        self._declared.append((method, path, handler))
        if ":" in path:
            self._has_patterns = True
            return
        parts = path.split("/")
        places = tuple(place for place, part in enumerate(parts) if part.startswith("{"))
        names = tuple(parts[place].strip("{}") for place in places)
        for place in places:
            parts[place] = ANYTHING
        self._paths.add(tuple(parts))
        if method != "*":
            self._known[method, *parts] = Known(handler, names)
        known = self._places.setdefault(len(parts), [])
        if places not in known:
            known.append(places)
            known.sort(reverse=True, key=lambda each: [*each, len(parts)])

    def find(self, request: web.Request) -> Handler | None:
        """Return the handler of the request, or None if aiohttp must find the route.

        After a handler is returned, `parts_of` returns the parameters of the request's path.
        """
        path = request.rel_url.raw_path
        if not PLAIN.fullmatch(path) or "Expect" in request.headers:
            return None
        parts = path.split("/")
        for places in self._places.get(len(parts), ()):
            wanted = [request.method, *parts]
            for place in places:
                wanted[place + 1] = ANYTHING
            found = self._known.get(tuple(wanted))
            if found is not None:
                values = [parts[place] for place in places]
                if "" in values:
                    return None
                request[PARTS] = dict(zip(found.names, values, strict=True))
                return found.handler
        return None

    @cached_property
    def router(self) -> web.UrlDispatcher:
        """A router of aiohttp with every route of the table."""
        router = web.UrlDispatcher()
        for method, path, handler in self._declared:
            router.add_route(method, path, handler, expect_handler=self._expect_handler)
        return router

    async def resolve(self, request: web.Request) -> tuple[web.UrlMappingMatchInfo | None, set[str]]:
        """Return aiohttp's route for the request, or None if no route has its path and method.

        The second value is always an empty set. aiohttp expects the allowed methods in this set.
        """
        if self._lacks(request.rel_url.raw_path):
            return None, set()
        found = await self.router.resolve(request)
        return (found if found.http_exception is None else None), set()

    def _lacks(self, path: str) -> bool:
        """Return True if it is certain that no route has this path. In this case, aiohttp's router is not needed.
        This is so for most requests for pages.
        """
        if self._has_patterns or not PLAIN.fullmatch(path):
            return False
        parts = path.split("/")
        return all(
            tuple(ANYTHING if place in places else part for place, part in enumerate(parts)) not in self._paths
            for places in self._places.get(len(parts), ())
        )

    @property
    def canonical(self) -> str:
        return EVERY_PATH

    def __iter__(self) -> Iterator[web.AbstractRoute]:
        return iter(self.router.routes())

    def __len__(self) -> int:
        return len(self._declared)

    def get_info(self) -> Any:
        return {"path": EVERY_PATH}

    def raw_match(self, path: str) -> bool:
        return path == EVERY_PATH

    def url_for(self, **_: str) -> URL:
        raise NotImplementedError  # wmsd does not build URLs from routes

    def add_prefix(self, prefix: str) -> None:
        raise NotImplementedError  # the table belongs to an application that is not part of another one
