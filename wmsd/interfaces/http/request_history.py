"""Hands answered requests to the history: those of the API that name a company which their token may use.

What a stranger sends belongs to no company, whichever it names.
"""

import logging
from typing import Final

from wmsd.app.installation import Installation
from wmsd.app.request_history.entries import LONGEST_HEADER, REQUEST_HEADERS, Taken, beginning
from wmsd.base.complaints import Complaints
from wmsd.interfaces.http.request_log import CALL
from wmsd.interfaces.http.web import web

TOLD: Final = Complaints(logging.getLogger("wmsd.requests"))


def keep(installation: Installation, request: web.Request, answer: web.StreamResponse, seconds: float) -> None:
    """One that cannot be kept costs nobody the answer."""
    call = request.get(CALL)
    if call is None or call.known is None or call.session is not None or not installation.history.is_on:
        return
    try:
        body = answer.body if isinstance(answer, web.Response) else None
        whole = body if isinstance(body, bytes) else b""
        sent = [
            value if value is None or len(value) <= LONGEST_HEADER else value[:LONGEST_HEADER]
            for value in map(request.headers.get, REQUEST_HEADERS)
        ]
        installation.history.take(
            Taken(
                installation.clock.now(),
                seconds,
                request.method,
                request.raw_path if request.raw_path.startswith("/") else request.rel_url.raw_path_qs,
                sent,
                call,
                answer.status,
                beginning(answer.status, whole),
                len(whole),
                answer.headers,
            )
        )
    except Exception as error:
        TOLD.failed("requests are answered, but not kept", error)
