"""The event stream of a browser. It names the companies that have changed, so that open pages can reload.

An open page does not keep a session active. A person who does nothing is signed out after the usual time.
"""

from dataclasses import replace
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.dispatch.limits.costs import Payers
from wmsd.installation.live_changes import Listener, LiveChanges, list_changes
from wmsd.interfaces.http import connections
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.request_log import CALL, REQUEST_ID
from wmsd.interfaces.pages.kit.browser import Browser
from wmsd.interfaces.pages.kit.page_client import PageClient
from wmsd.interfaces.pages.kit.rendering import HEADERS

LIVE: Final = "/live"
STREAM: Final = "text/event-stream"
BEAT_SECONDS: Final = 10.0
"""The longest time between two messages of a stream. When sending a message fails, the server knows that the
browser has disconnected.
"""
LEAST_SECONDS: Final = 1.0
"""The shortest time between two messages of a stream, if at most `AT_FULL_PACE` streams are open.

With more open streams, this time is longer, because other requests are more important.
"""
AT_FULL_PACE: Final = 100


class Live:
    def __init__(self, door: PageClient, changes: LiveChanges) -> None:
        self._door = door
        self._changes = changes

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Send the event stream of a browser.

        If nobody is signed in, answer with the status 204: a browser that gets this status does not connect again.
        Raise Problem (503) if the person has too many streams, or if all people together have too many. After a
        503, the open page does not reload automatically, and tries to connect again later.
        """
        browser = replace(self._door.browser(request), asks_by_itself=True)
        if browser.secret is None:
            self._door.count_open(browser)
            return web.Response(status=204)
        position = self._changes.position
        first = await self._door.ask(browser, list_changes, query={"after": str(position)})
        if first.status == 401:
            return web.Response(status=204)
        first.needed()
        if request.method == "HEAD":  # only the headers: the stream itself would take a place and never end
            return web.Response(headers=HEADERS, content_type=STREAM)
        caller = request[CALL].caller
        assert caller is not None
        assert caller.session_id is not None
        async with self._door.work.turn("stream", Payers(person=str(caller.actor.user_id))):
            with self._changes.listening(caller.session_id) as listener:
                return await self._send_changes(browser, listener, position)

    async def _send_changes(self, browser: Browser, listener: Listener, position: int) -> web.StreamResponse:
        from aiohttp_sse import sse_response  # imported only when a page is opened

        headers = {**HEADERS, "X-Request-Id": browser.request[REQUEST_ID], "Server": "wmsd"}
        connection = connections.of(browser.request)
        if connection is not None:
            connection.end()  # the stream is idle, so it may be closed when connections are scarce
        async with sse_response(browser.request, headers=headers, ping_interval=3600) as stream:
            await stream.send(dumps({"companies": [], "many": False}))
            while True:
                await self._changes.pause(listener, max(LEAST_SECONDS, self._changes.streams / AT_FULL_PACE))
                await self._changes.wait(listener, position, BEAT_SECONDS)
                if self._changes.has_ended:
                    return stream
                listener.at_once.clear()
                query = {"after": str(position)}
                answer = await self._door.ask(browser, list_changes, query=query, is_counted=True)
                if answer.status == 401:
                    await stream.send("", event="over")
                    return stream
                if answer.is_good:  # otherwise the next round tries again
                    position = answer.body.pop("position")
                    await stream.send(dumps(answer.body))
