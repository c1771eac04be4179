"""Hands answered requests to the history: those of the API that name a company which their token may use.

What a stranger sends belongs to no company, whichever it names.
"""

import logging
from typing import Final

from wmsd.app.call import Call
from wmsd.app.installation import Installation
from wmsd.app.request_history.entries import ANSWER_HEADERS, ASKED_FOR, LONGEST_HEADER, Taken, beginning
from wmsd.base.complaints import Complaints
from wmsd.base.context import Caller, Company
from wmsd.interfaces.http.request_log import CALL
from wmsd.interfaces.http.web import web

TOLD: Final = Complaints(logging.getLogger("wmsd.requests"))


def keep(installation: Installation, request: web.Request, answer: web.StreamResponse, seconds: float) -> None:
    """One that cannot be kept costs nobody the answer."""
    call = request.get(CALL)
    if call is None or call.known is None or call.session is not None or not installation.history.is_on:
        return
    if not installation.history.wants(call.known[1].id, request.method, answer.status):
        return
    try:
        installation.history.take(_taken(installation, request, call, call.known, answer, seconds))
    except Exception as error:
        TOLD.failed("requests are answered, but not kept", error)


def _taken(
    installation: Installation,
    request: web.Request,
    call: Call,
    known: tuple[Caller, Company],
    answer: web.StreamResponse,
    seconds: float,
) -> Taken:
    body = answer.body if isinstance(answer, web.Response) else None
    whole = body if isinstance(body, bytes) else b""
    sent = call.company, call.operator, call.idempotency_key, call.if_match, call.if_none_match
    path = request.raw_path
    return Taken(
        installation.clock.now(),
        seconds,
        request.method,
        path if path.startswith("/") else request.rel_url.raw_path_qs,
        [  # cut off, because what waits is held in memory
            value if value is None or len(value) <= LONGEST_HEADER else value[:LONGEST_HEADER]
            for value in (*map(request.headers.get, ASKED_FOR), *sent)
        ],
        call.request_id,
        call.address,
        call.operation,
        known[0],
        known[1],
        call.sent,
        call.body_bytes,
        call.parts,
        answer.status,
        beginning(answer.status, whole),
        len(whole),
        list(map(answer.headers.get, ANSWER_HEADERS)),
    )
