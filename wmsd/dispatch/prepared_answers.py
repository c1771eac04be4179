"""Answers that are the same for all callers: created at the first request, then stored as bytes."""

import asyncio
import gzip
from collections.abc import Callable
from functools import cached_property
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.dispatch.call import Reply
from wmsd.dispatch.preconditions import etag_of

Make = Callable[[], bytes]
LEVEL: Final = 6
"""The compression level of zlib. A higher level takes much longer and saves little."""


class Kept(bytes):
    """The body of an answer that is sent many times. It is compressed only once, because compression may take
    longer than all other work for the answer.
    """

    @cached_property
    def compressed(self) -> bytes:
        """The gzip form of the answer. Its bytes depend only on the answer."""
        return gzip.compress(self, LEVEL, mtime=0)

    @cached_property
    def etag(self) -> str:
        return etag_of(self)


class Prepared:
    """An answer that is created when it is first requested. `make` creates the answer, which may take long. So it
    runs once, on a thread, even if many requests wait.
    """

    def __init__(self, make: Make, content_type: str = "application/json") -> None:
        self._make = make
        self._content_type = content_type
        self._made: Kept | None = None
        self._making = asyncio.Lock()

    async def reply(self) -> Reply:
        """Return the answer with its ETag. The HTTP server answers 304 to a client that already has the answer."""
        if self._made is None:
            async with self._making:
                if self._made is None:
                    self._made = await asyncio.to_thread(prepare_answer, self._make)
        headers = {"ETag": self._made.etag, "Cache-Control": "no-cache", "Content-Type": self._content_type}
        return Reply(200, self._made, headers)


def prepare_answer(make: Make) -> Kept:
    """Return the result of `make`, ready to be sent compressed or uncompressed."""
    made = Kept(make())
    made.compressed, made.etag  # noqa: B018 -- computed now, so that no request waits
    return made


def as_json(make: Callable[[], object]) -> Prepared:
    return Prepared(lambda: dumps(make()).encode())
