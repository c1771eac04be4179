"""Errors as problem details (RFC 9457), for clients that accept them."""

import json
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.negotiation import weights_in
from wmsd.interfaces.openapi.error_responses import MEDIA_TYPE

PAGE: Final = "/docs/errors"
"""The page of the guide that has a paragraph for each error code."""


def translate(request: web.Request, answer: web.StreamResponse) -> None:
    """Convert an error to problem details, if the client accepts them."""
    if answer.status < 400 or weights_in(request.headers.get("Accept", "")).get(MEDIA_TYPE, 0.0) == 0:
        return
    if not isinstance(answer, web.Response) or answer.content_type != "application/json":
        return
    problem = json.loads(answer.body) if isinstance(answer.body, bytes) and answer.body else {}
    if "code" not in problem:
        return
    code, message = problem.pop("code"), problem.pop("message")
    members = {
        "type": type_of(code),
        "title": title_of(code),
        "status": answer.status,
        "detail": message,
        "code": code,
    }
    answer.body = dumps({**members, **problem}).encode()
    answer.content_type = MEDIA_TYPE


def type_of(code: str) -> str:
    """Return the address of the code's paragraph in the guide."""
    return f"{PAGE}#{code.lower()}"


def title_of(code: str) -> str:
    return code.replace("_", " ").capitalize()
