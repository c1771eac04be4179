"""Answers that are the same for everybody: made at the first request, then kept as bytes."""

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
"""Of zlib: a higher one takes much longer and saves little."""


class Kept(bytes):
    """An answer that is sent again and again: it is compressed once only, which may take longer than all else."""

    @cached_property
    def compressed(self) -> bytes:
        """As gzip has it. The bytes depend on nothing else."""
        return gzip.compress(self, LEVEL, mtime=0)

    @cached_property
    def etag(self) -> str:
        return etag_of(self)


class Prepared:
    """`make` may take long: it runs once, on a thread, however many requests wait for it."""

    def __init__(self, make: Make, content_type: str = "application/json") -> None:
        self._make = make
        self._content_type = content_type
        self._made: Kept | None = None
        self._making = asyncio.Lock()

    async def reply(self) -> Reply:
        """The answer with its ETag. The HTTP server answers 304 to a client that has it already."""
        if self._made is None:
            async with self._making:
                if self._made is None:
                    self._made = await asyncio.to_thread(prepare_answer, self._make)
        headers = {"ETag": self._made.etag, "Cache-Control": "no-cache", "Content-Type": self._content_type}
        return Reply(200, self._made, headers)


def prepare_answer(make: Make) -> Kept:
    """What it makes, ready to be sent compressed or not."""
    made = Kept(make())
    made.compressed, made.etag  # noqa: B018 -- now, so that no request waits for it
    return made


def as_json(make: Callable[[], object]) -> Prepared:
    return Prepared(lambda: dumps(make()).encode())
