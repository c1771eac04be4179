"""Waits for the body of a request. During this wait, the connection counts as waiting for its client."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from wmsd.interfaces.http import connections
from wmsd.interfaces.http.aiohttp_web import web


@contextlib.asynccontextmanager
async def waiting_for_body(request: web.Request, until: float) -> AsyncIterator[None]:
    """While the context is open, count the connection as waiting for its client. Like all such connections, it may
    be closed if there are too many connections.

    If the client waits for "100 Continue", send it. Raise TimeoutError if the context is still open at `until`, a
    time on the loop's clock. Raise Stopping if the service is stopping.
    """
    connection = connections.of(request)
    if connection is None:
        async with asyncio.timeout_at(until):
            yield
        return
    if connection.is_stopping:
        raise connections.Stopping
    connection.ask_for_body()
    connection.end(connection.company)
    try:
        async with asyncio.timeout_at(until) as connection.body:
            yield
    except TimeoutError:
        if connection.is_stopping:
            raise connections.Stopping from None
        raise
    finally:
        connection.body = None
        connection.begin()
