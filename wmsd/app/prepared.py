"""Answers that are the same for everybody: made at the first request, then kept as bytes."""

import asyncio
from collections.abc import Callable

from wmsd.app.call import Reply
from wmsd.app.preconditions import etag_of
from wmsd.base.strict_json import dumps

Make = Callable[[], bytes]


class Prepared:
    """`make` may take long: it runs once, on a thread, however many requests wait for it."""

    def __init__(self, make: Make, content_type: str = "application/json") -> None:
        self._make = make
        self._content_type = content_type
        self._made: tuple[bytes, str] | None = None
        self._making = asyncio.Lock()

    async def reply(self) -> Reply:
        """The answer with its ETag. The HTTP server answers 304 to a client that has it already."""
        if self._made is None:
            async with self._making:
                if self._made is None:
                    body = await asyncio.to_thread(self._make)
                    self._made = body, etag_of(body)
        body, etag = self._made
        headers = {"ETag": etag, "Cache-Control": "no-cache", "Content-Type": self._content_type}
        return Reply(200, body, headers)


def as_json(make: Callable[[], object]) -> Prepared:
    return Prepared(lambda: dumps(make()).encode())
