"""Answers that are sent in pieces. Each piece is read after the client has received the previous piece."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from wmsd.dispatch.call import Call, Piece, Reply
from wmsd.dispatch.limits.costs import Payers
from wmsd.dispatch.limits.work_admission import Turn, WorkAdmission
from wmsd.interfaces.http.aiohttp_web import web

PATIENCE_SECONDS: Final = 60.0
"""The seconds in which a client must receive a piece. A slower download is cut, because there are few slots."""


Begin = Callable[[web.StreamResponse], Awaitable[None]]


async def answer_in_pieces(
    request: web.Request, reply: Reply, call: Call, work: WorkAdmission, begin: Begin
) -> web.StreamResponse:
    """Send an operation's answer in pieces, as the operation reads them. Raise Problem if the download cannot
    start.

    The function first waits for a download slot. It calls `begin` before it sends the head.
    """
    caller, company = call.caller, call.tenant
    assert reply.pieces is not None and caller is not None
    payers = Payers("" if company is None else str(company.id), str(caller.actor.user_id), call.address)
    response = web.StreamResponse(status=reply.status, headers=reply.headers)
    response.content_type = "application/json"
    async with work.turn("download", payers) as turn:
        return await send_pieces(request, response, turn, reply.pieces(), begin)


async def send_pieces(
    request: web.Request,
    response: web.StreamResponse,
    turn: Turn,
    pieces: AsyncIterator[Piece],
    begin: Begin | None = None,
) -> web.StreamResponse:
    """Send the pieces. Charge the cost of each piece to `turn`, which is the download slot.

    Raise the errors of `pieces`. Raise ConnectionResetError if the client receives nothing for too long. After an
    error, the answer stays incomplete.
    """
    first = await anext(pieces)
    if begin is not None:
        await begin(response)
    await response.prepare(request)
    if request.method == "HEAD":  # aiohttp would send the body as the beginning of the next answer
        return response
    await _send(response, first, turn)
    async for piece in pieces:
        await _send(response, piece, turn)
    await response.write_eof()
    return response


async def _send(response: web.StreamResponse, piece: Piece, turn: Turn) -> None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await response.write(piece.text)
    except TimeoutError:
        raise ConnectionResetError("The client took too long.") from None
    await turn.pay(piece.seconds, len(piece.text))
