"""Routes that are created when one of them is requested, so that the server starts sooner."""

import asyncio
from collections.abc import Callable, Iterable

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.server import (
    ANY,
    INSTALLATION,
    REQUEST_LOG,
    TURNS,
    add_open,
    answer_in_turn,
    note_expectation,
    refuse_address,
)


class LateRoutes:
    """Routes that are created only when the first of them is requested, or by `prepare`. So the server starts
    sooner.
    """

    def __init__(self, app: web.Application, make: Callable[[web.Application], None]) -> None:
        """Add a route to `app` that passes all unknown paths to the late routes. If no late route fits, the
        request is refused.

        `make` adds the late routes to an application, and runs on a thread.
        """
        self._app = app
        self._make = make
        self._making: asyncio.Future[web.UrlDispatcher] | None = None
        self._made: web.UrlDispatcher | None = None
        app.router.add_route("*", ANY, self._answer, expect_handler=note_expectation)

    async def prepare(self) -> web.UrlDispatcher:
        """Return the late routes, creating them if necessary. After an exception, the next call tries again."""
        making = self._making
        if making is None:
            making = self._making = asyncio.ensure_future(asyncio.to_thread(self._make_all))
        try:
            self._made = await asyncio.shield(making)
        except Exception:
            self._making = None
            raise
        return self._made

    def routes(self) -> Iterable[web.AbstractRoute]:
        """Return the late routes, or none if they do not exist yet."""
        return () if self._made is None else self._made.routes()

    def _make_all(self) -> web.UrlDispatcher:
        routes = web.Application()
        routes[INSTALLATION], routes[REQUEST_LOG] = self._app[INSTALLATION], self._app[REQUEST_LOG]
        routes[TURNS] = self._app[TURNS]
        self._make(routes)
        add_open(routes, "*", ANY, refuse_address)
        return routes.router

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            routes = self._made or await self.prepare()
        except Exception as error:
            return await self._refuse(error, request)
        found = await routes.resolve(request)
        request.match_info.clear()
        request.match_info.update(found)
        return await found.handler(request)

    async def _refuse(self, error: Exception, request: web.Request) -> web.StreamResponse:
        async def fail(request: web.Request) -> web.StreamResponse:
            raise error

        installation = self._app[INSTALLATION]
        log, turns = self._app[REQUEST_LOG], self._app[TURNS]
        return await answer_in_turn(installation, log, turns, installation.measures.of(ANY), fail, request)
