"""Numbered pages that are too large to be read in one step. wmsd reads the next piece when the client has received
the previous one, so that only one piece is in memory.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from wmsd.contract.list_queries import PageQuery
from wmsd.contract.operation import Operation
from wmsd.contract.results import Page
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.call import Piece, Reply

BEGINNING: Final = b'{"data":['


class Some(NamedTuple):
    """The records that one step has read. A page needs several steps if it is too large to be read at once."""

    records: str
    left: Sequence[int]
    """The ids of the records that the next steps must read."""
    seconds: float
    """The processor seconds that a thread spent on the read."""


ReadSome = Callable[[Sequence[int]], Awaitable[Some]]


def in_pieces(reply: Reply, ids: Sequence[int], read: ReadSome) -> Reply:
    """Return an answer that sends the records with these `ids` in pieces, and reads each piece with `read`.
    `reply` is the answer to the same request, but without any records.
    """
    assert reply.body.startswith(BEGINNING)
    headers = {"Link": reply.headers["Link"]} if "Link" in reply.headers else {}  # no ETag: it is for no records
    return Reply(reply.status, b"", headers, partial(_pieces, reply.body[len(BEGINNING) :], ids, read))


async def _pieces(end: bytes, ids: Sequence[int], read: ReadSome) -> AsyncIterator[Piece]:
    """Yield the pieces of the answer. Leave out records that were deleted after the request began. Raise the
    errors of `read`. `end` is the text of the answer after the records.
    """
    before = BEGINNING
    while ids:
        some = await read(ids)
        if some.records:
            yield Piece(before + some.records.encode(), some.seconds)
            before = b","
        ids = some.left
    yield Piece((BEGINNING if before == BEGINNING else b"") + end, 0.0)


def read_some(tx: Transaction, operation: Operation, inputs: Mapping[str, Any], ids: Sequence[int]) -> Some:
    """Read as many records with these `ids` as one step reads, from the first id on. The filters of the query have
    already selected the ids, so they are not applied again.
    """
    began, query = time.thread_time(), inputs["query"]
    assert isinstance(query, PageQuery)
    tx.within = ids
    page = operation.action(tx, **{**inputs, "query": query.of_some(len(ids))})
    return Some(page.records, page.ids[page.number :], time.thread_time() - began)


def whole_page(tx: Transaction, operation: Operation, query: PageQuery) -> Page:
    """Return a page with all its records, whatever their size. Only commands use this, because a client would have
    to wait too long.
    """
    page: Page = operation.action(tx, query)
    records, left = [page.records], page.ids[page.number :]
    while left:
        some = read_some(tx, operation, {"query": query}, left)
        records.append(some.records)
        left = some.left
    return Page(",".join(filter(None, records)), page.total)
