"""Numbered pages that are too large to be read at once. They are read in pieces, each when the one before it is
with the client, so that only one piece is in memory.
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
    """The first of some records."""

    records: str
    left: Sequence[int]
    """The ids of the others."""
    seconds: float
    """Of the processor, that a thread has read them for."""


ReadSome = Callable[[Sequence[int]], Awaitable[Some]]


def in_pieces(reply: Reply, ids: Sequence[int], read: ReadSome) -> Reply:
    """The answer that has the records with these ids, from the same answer without records."""
    assert reply.body.startswith(BEGINNING)
    headers = {"Link": reply.headers["Link"]} if "Link" in reply.headers else {}  # its ETag is of no records
    return Reply(reply.status, b"", headers, partial(_pieces, reply.body[len(BEGINNING) :], ids, read))


async def _pieces(end: bytes, ids: Sequence[int], read: ReadSome) -> AsyncIterator[Piece]:
    """A record that is gone meanwhile is left out. Raises Problem."""
    before = BEGINNING
    while ids:
        some = await read(ids)
        if some.records:
            yield Piece(before + some.records.encode(), some.seconds)
            before = b","
        ids = some.left
    yield Piece((BEGINNING if before == BEGINNING else b"") + end, 0.0)


def read_some(tx: Transaction, operation: Operation, inputs: Mapping[str, Any], ids: Sequence[int]) -> Some:
    """As many of the records with these ids as are read at once. The filters are not looked at again."""
    began, query = time.thread_time(), inputs["query"]
    assert isinstance(query, PageQuery)
    tx.within = ids
    page = operation.action(tx, **{**inputs, "query": query.of_some(len(ids))})
    return Some(page.records, page.ids[page.number :], time.thread_time() - began)


def whole_page(tx: Transaction, operation: Operation, query: PageQuery) -> Page:
    """A page with all its records, however large they are: for commands, which have no client to wait for."""
    page: Page = operation.action(tx, query)
    records, left = [page.records], page.ids[page.number :]
    while left:
        some = read_some(tx, operation, {"query": query}, left)
        records.append(some.records)
        left = some.left
    return Page(",".join(filter(None, records)), page.total)
