"""The event stream of a browser: it says which companies have changed, and pages that show them look again.

An open page is no use of a session: who does nothing is signed out in time, whatever is on the screen.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from wmsd.app.live_changes import LiveChanges, list_changes
from wmsd.base.problems import Problem, unavailable
from wmsd.base.strict_json import dumps
from wmsd.interfaces.http import connections
from wmsd.interfaces.http.request_log import REQUEST_ID
from wmsd.interfaces.http.web import web
from wmsd.interfaces.pages.browser import Browser
from wmsd.interfaces.pages.door import Door
from wmsd.interfaces.pages.rendering import HEADERS

LIVE: Final = "/live"
STREAM: Final = "text/event-stream"
BEAT_SECONDS: Final = 10.0
"""The longest time without a message. A browser that has gone is noticed by then."""
LEAST_SECONDS: Final = 1.0
"""Between two messages, up to `AT_FULL_PACE` streams; beyond that it grows, because orders go first."""
AT_FULL_PACE: Final = 100
MOST: Final = 1000
MOST_OF_A_SESSION: Final = 6
"""As many as browsers open to a host. Their tabs share one."""


class Live:
    def __init__(self, door: Door, changes: LiveChanges) -> None:
        self._door = door
        self._changes = changes
        self._open: Counter[str] = Counter()
        """The streams of each session."""

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """204 ends the tries of a browser that is not signed in."""
        browser = replace(self._door.browser(request), asks_by_itself=True)
        if browser.secret is None:
            self._door.count_open(browser)
            return web.Response(status=204)
        position = self._changes.position
        first = await self._door.ask(browser, list_changes, query={"after": str(position)})
        if first.status == 401:
            return web.Response(status=204)
        first.needed()
        if request.method == "HEAD":  # the head of the stream, which itself would take a place and never end
            return web.Response(headers=HEADERS, content_type=STREAM)
        with self._place(browser.secret):
            return await self._tell(browser, position)

    async def _tell(self, browser: Browser, position: int) -> web.StreamResponse:
        from aiohttp_sse import sse_response  # imported when somebody opens a page

        headers = {**HEADERS, "X-Request-Id": browser.request[REQUEST_ID], "Server": "wmsd"}
        connection = connections.of(browser.request)
        if connection is not None:
            connection.end()  # nothing is worked on: it gives way to others where connections are scarce
        async with sse_response(browser.request, headers=headers, ping_interval=3600) as stream:
            await stream.send(dumps({"companies": [], "many": False}))
            while True:
                await self._changes.pause(max(LEAST_SECONDS, self._open.total() / AT_FULL_PACE))
                await self._changes.wait(position, BEAT_SECONDS)
                if self._changes.has_ended:
                    return stream
                query = {"after": str(position)}
                answer = await self._door.ask(browser, list_changes, query=query, is_counted=True)
                if answer.status == 401:
                    await stream.send("", event="over")
                    return stream
                if answer.is_good:  # or else, a moment later
                    position = answer.body.pop("position")
                    await stream.send(dumps(answer.body))

    @contextmanager
    def _place(self, session: str) -> Iterator[None]:
        """Counts a stream. Raises Problem (429, 503)."""
        if self._open[session] >= MOST_OF_A_SESSION:
            raise Problem(
                "RATE_LIMIT_EXCEEDED", "This browser watches enough already.", headers={"Retry-After": "10"}
            )
        if self._open.total() >= MOST:
            raise unavailable("Too many browsers watch at once.", 10)
        self._open[session] += 1
        self._changes.streams += 1
        try:
            yield
        finally:
            self._changes.streams -= 1
            self._open -= Counter([session])
