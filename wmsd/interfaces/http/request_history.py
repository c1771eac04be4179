"""Adds answered requests to the request history.

The history of a company contains the API requests that name the company, and whose token may use it. A request
without a valid token is not in the history, even if it names a company.
"""

import logging
from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.contract.context import Caller, Company
from wmsd.dispatch.call import Call
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.request_history.lines import ANSWER_HEADERS, ASKED_FOR, LONGEST_HEADER, Taken, answer_to_keep

TOLD: Final = RepeatedFailures(logging.getLogger("wmsd.requests"))


class Asked(NamedTuple):
    method: str
    path: str
    """The path, including the query."""
    headers: Mapping[str, str]


class Answered(NamedTuple):
    status: int
    body: bytes
    headers: Mapping[str, str]


def keep(
    installation: Installation, request: web.Request, call: Call, answer: web.StreamResponse, seconds: float
) -> None:
    """Add a request and its call to the history. If this fails, log the failure. The request is answered in any
    case.
    """
    if not _is_wanted(installation, call, request.method, answer.status):
        return
    body = answer.body if isinstance(answer, web.Response) else None
    whole = body if isinstance(body, bytes) else b""
    path = request.raw_path
    asked = Asked(request.method, path if path.startswith("/") else request.rel_url.raw_path_qs, request.headers)
    _keep(installation, call, asked, Answered(answer.status, whole, answer.headers), seconds)


def keep_call(installation: Installation, call: Call, asked: Asked, answered: Answered, seconds: float) -> None:
    """Add an answered call to the history: an API request, or a try-out from a page of the API reference."""
    if _is_wanted(installation, call, asked.method, answered.status):
        _keep(installation, call, asked, answered, seconds)


def _is_wanted(installation: Installation, call: Call, method: str, status: int) -> bool:
    if call.known is None or call.session is not None or not installation.history.is_on:
        return False
    return installation.history.wants(call.known[1].id, method, status)


def _keep(installation: Installation, call: Call, asked: Asked, answered: Answered, seconds: float) -> None:
    assert call.known is not None
    try:
        installation.history.take(_taken(installation, call, call.known, asked, answered, seconds))
    except Exception as error:
        TOLD.failed("requests are answered, but not stored", error)


def _taken(
    installation: Installation,
    call: Call,
    known: tuple[Caller, Company],
    asked: Asked,
    answered: Answered,
    seconds: float,
) -> Taken:
    sent = call.company, call.operator, call.idempotency_key, call.if_match, call.if_none_match
    return Taken(
        installation.clock.now(),
        seconds,
        asked.method,
        asked.path,
        [  # shortened, because waiting entries stay in memory
            value if value is None or len(value) <= LONGEST_HEADER else value[:LONGEST_HEADER]
            for value in (*map(asked.headers.get, ASKED_FOR), *sent)
        ],
        call.request_id,
        call.address,
        call.operation,
        known[0],
        known[1],
        call.sent,
        call.body_bytes,
        call.parts,
        answered.status,
        answer_to_keep(answered.status, answered.body),
        len(answered.body),
        list(map(answered.headers.get, ANSWER_HEADERS)),
    )
