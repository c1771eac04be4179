"""Route lookup in a dict. aiohttp would try several routes, and create objects that wmsd does not use."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from wmsd.interfaces.http.aiohttp_web import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PLAIN: Final = re.compile(r"[\w/.,:;=@!$&'()*+~-]*", re.ASCII)
"""A path that needs no decoding. A path with other characters may need decoding."""
ANYTHING: Final = "{}"


PARTS: Final = web.RequestKey("parts", dict[str, str])


class Known(NamedTuple):
    route: web.AbstractRoute
    names: tuple[str, ...]
    """The names of the path parameters."""


def parts_of(request: web.Request) -> Mapping[str, str]:
    """Return the variable parts of the path by name."""
    found = request.get(PARTS)
    return request.match_info if found is None else found


class PlainRoutes:
    """The routes of paths that need no decoding. For all other paths, aiohttp's router finds the route; it knows
    every route.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Known] = {}
        """The routes by method and parts of the path, with ANYTHING in place of each parameter."""
        self._places: dict[int, list[tuple[int, ...]]] = {}
        """The patterns of known paths by the number of their parts. A pattern has the indexes of the parts that
        are parameters. Patterns that begin with more fixed parts come first, as with aiohttp.
        """

    def add(self, path: str, route: web.AbstractRoute) -> None:
        """Add a route. Leave the route to aiohttp if it accepts any method, or if its path has a parameter with a
        pattern.
        """
        if route.method == "*" or ":" in path:
            return
        parts = path.split("/")
        places = tuple(place for place, part in enumerate(parts) if part.startswith("{"))
        names = tuple(parts[place].strip("{}") for place in places)
        for place in places:
            parts[place] = ANYTHING
        self._known[route.method, *parts] = Known(route, names)
        known = self._places.setdefault(len(parts), [])
        if places not in known:
            known.append(places)
            known.sort(reverse=True, key=lambda each: [*each, len(parts)])

    def find(self, request: web.Request) -> Handler | None:
        """Return the handler of the request, or None if aiohttp must find the route.

        If there is a handler, `parts_of` then returns the parts of the request's path.
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
                return found.route.handler
        return None
