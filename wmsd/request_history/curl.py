"""Shows a stored request as a curl command."""

import shlex
from collections.abc import Mapping
from typing import Any, Final

from wmsd.dispatch.call import MOST_KEPT

SENT: Final = ("X-Company-Id", "X-Three-Pl-Id", "Content-Type", "Accept", "Idempotency-Key", "If-Match")
"""The headers that the curl command repeats, because they affect the answer."""
FROM_A_FILE: Final = "@body.json"


def line(request: Mapping[str, Any], origin: str) -> str:
    """Return the request as a curl command, with `$TOKEN` in place of the token. If the body is not stored
    completely, the command reads it from a file, which the user must create.
    """
    parts = ["curl"]
    if request["method"] == "HEAD":
        parts.append("--head")
    elif request["method"] != "GET":
        parts += ["-X", shlex.quote(request["method"])]
    parts += [shlex.quote(f"{origin}{request['path']}"), "-H", '"Authorization: Bearer $TOKEN"']
    headers = request["headers"]
    for name in SENT:
        if name in headers:
            parts += ["-H", shlex.quote(f"{name}: {headers[name]}")]
    if request["body_bytes"] or was_not_read(request):
        parts += ["--data", shlex.quote(request["body"]) if is_whole(request) else FROM_A_FILE]
    return " ".join(parts)


def was_not_read(request: Mapping[str, Any]) -> bool:
    """Return True if the server did not read the body, for example because the head of the request was refused."""
    headers = request["headers"]
    announced = headers.get("Content-Length", "0").strip("0") or "Transfer-Encoding" in headers
    return not request["body_bytes"] and bool(announced)


def is_whole(request: Mapping[str, Any]) -> bool:
    """Return True if the complete body is stored. Secrets may have been removed from it."""
    return request["body"] is not None and request["body_bytes"] <= MOST_KEPT
