"""The reader of HTTP requests: client address, token, query and body. Malformed requests are refused."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import unquote_to_bytes

from multidict import CIMultiDictProxy, MultiMapping
from yarl import URL

from wmsd.base.client_addresses import Network, counted_as, is_address, is_in, without_port
from wmsd.base.problems import FieldErrors, Problem, refuse_errors, unavailable
from wmsd.base.strict_json import parse_json, printable
from wmsd.contract.fields import Input
from wmsd.dispatch.call import MOST_KEPT, Call, Loaded
from wmsd.dispatch.large_bodies import LARGE, LargeBodies
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.body_waits import waiting_for_body
from wmsd.interfaces.http.connections import Stopping

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
BODY_SECONDS: Final = 20.0
"""The time limit in seconds for a body. While the body arrives, the limit grows by one second for every
`LEAST_BYTES_A_SECOND` bytes.
"""
LEAST_BYTES_A_SECOND: Final = 64 * 1024


def is_of_the_api(request: web.BaseRequest) -> bool:
    return is_path_of_the_api(request.path)


def is_path_of_the_api(path: str) -> bool:
    """Return True if the path belongs to the API. Extra slashes at the beginning are accepted.

    Clients send extra slashes if their base address ends with a slash.
    """
    return path.startswith("/api/") or f"{path.lstrip('/')}/".startswith(("api/", "openapi.json/"))


def client_address(request: web.BaseRequest, trusted: Sequence[Network]) -> str:
    """Return the client's address. Behind trusted proxies, this is the address that X-Forwarded-For reports.

    For an IPv6 address, return its /64 network, because one client usually has the whole network.
    """
    return client_and_hops(request, trusted)[0]


def client_and_hops(request: web.BaseRequest, trusted: Sequence[Network]) -> tuple[str, int]:
    """Return the client's address as `client_address` does. Also return how many trusted proxies the request has
    passed.
    """
    address, passed = request.remote or "", 0
    if trusted:
        hops = [hop.strip() for hop in ",".join(every(request, "X-Forwarded-For")).split(",")]
        while is_in(address, trusted):
            passed += 1
            hop = without_port(hops.pop()) if hops else ""
            if not is_address(hop):
                break
            address = hop
    return counted_as(address), passed


def every(request: web.BaseRequest, name: str) -> list[str]:
    """Return all values of the header `name`. Return [] if the head is malformed."""
    headers: Mapping[str, str] = request.headers
    return headers.getall(name, []) if isinstance(headers, MultiMapping) else []


def header_value(headers: CIMultiDictProxy[str], name: str) -> str | None:
    """Return the value of a header, or None. Repeated headers are joined with commas (RFC 9110, section 5.3)."""
    if name not in headers:
        return None
    return ", ".join(headers.getall(name))


def bearer(authorization: str | None) -> str | None:
    """Return the token of an Authorization header, or None if there is no bearer token."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def query(request: web.Request) -> dict[str, str]:
    """Return the query. Raise Problem (422) if a parameter is given twice or is not UTF-8 text."""
    return read_query(request.rel_url) if request.query_string else {}


def read_query(url: URL) -> dict[str, str]:
    values: dict[str, str] = {}
    errors: FieldErrors = {}
    for name, value in url.query.items():
        shown = printable(name)
        if shown != name or printable(value) != value or not _is_unicode(url, name, value):
            errors[shown] = ["must be UTF-8 text"]
        elif name in values:
            errors[name] = ["is given twice"]
        values[name] = value
    refuse_errors(errors)
    return values


def _is_unicode(url: URL, name: str, value: str) -> bool:
    """Return True if the query is valid UTF-8.

    Invalid bytes are decoded to the replacement character, but a client may also send this character. Therefore,
    if `value` contains the character, check the bytes of the query.
    """
    if REPLACEMENT not in name and REPLACEMENT not in value:
        return True
    try:
        unquote_to_bytes(url.raw_query_string).decode()
    except UnicodeDecodeError:
        return False
    return True


async def json_body(request: web.Request, call: Call, bodies: LargeBodies) -> Loaded:
    """Read the body and parse its JSON object. Return the object with the errors of its fields.

    Raise Problem if the body is not sent as JSON (415), or if too many large bodies arrive at the same time (503).
    Also raise the errors of `body` and `read_json`.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise malformed(415, "Compressed request bodies are not accepted. Send the body uncompressed.")
    if request.content_type != "application/json":
        raise malformed(415, "Send the body as JSON, with Content-Type: application/json.")
    if (request.charset or "utf-8").lower().replace("-", "") != "utf8":
        raise malformed(415, "Send the body in UTF-8.")
    return await read_json(
        await body(request, call.operation.max_body, partial(_hold, call, bodies)), call, bodies
    )


async def read_json(raw: bytes, call: Call, bodies: LargeBodies) -> Loaded:
    """Parse the JSON object in `raw`, a complete body. Return the object with the errors of its fields.

    Raise Problem if the body is too large (413), is not a JSON object (400), or has too many members or levels
    (422).
    """
    if len(raw) > call.operation.max_body:
        raise _too_large(call.operation.max_body)
    call.body_bytes = len(raw)
    most_fields = Input.MOST_FIELDS if call.operation.body is None else call.operation.body.MOST_FIELDS
    if len(raw) <= LARGE:
        loaded = Loaded(*parse_json(raw, most_fields))
    else:
        read = await bodies.run(call.company or "", lambda: parse_json(raw, most_fields))
        loaded = Loaded(*read, is_large=True)
    call.sent = raw[:MOST_KEPT]
    return loaded


def _hold(call: Call, bodies: LargeBodies, size: int) -> None:
    bodies.budget.hold(call.company or "", size)
    call.held_bytes += size


async def body(request: web.Request, max_body: int, hold: Callable[[int], None] | None = None) -> bytes:
    """Read and return the bytes of a body.

    If the body is large, call `hold` with the number of bytes that have arrived since the last call. Raise Problem
    if the body is larger than `max_body` (413), does not arrive in time (408), or if the service stops (503). Also
    raise the errors of `hold`.
    """
    if (request.content_length or 0) > max_body:
        raise _too_large(max_body)
    chunks = [request.content.read_nowait()]
    size, held = len(chunks[0]), 0
    until = asyncio.get_running_loop().time() + BODY_SECONDS
    while True:
        if hold is not None and LARGE < size <= max_body:
            hold(size - held)
            held = size
        if size > max_body or request.content.at_eof():
            break
        chunks.append(await _next_chunk(request, until))
        until += len(chunks[-1]) / LEAST_BYTES_A_SECOND
        size += len(chunks[-1])
    if size > max_body:
        raise _too_large(max_body)
    return b"".join(chunks)


async def _next_chunk(request: web.Request, until: float) -> bytes:
    """Wait for the next part of a body, and return it. Raise Problem if nothing arrives before the time `until`
    (408), or if the service stops (503).
    """
    try:
        async with waiting_for_body(request, until):
            return await request.content.readany()
    except Stopping:
        raise unavailable("The service is stopping. Send the request again when the service is running.") from None
    except TimeoutError:
        raise Problem(
            "REQUEST_TIMEOUT",
            f"The request body did not arrive within {BODY_SECONDS:.0f} s; send it again.",
            headers={"Connection": "close"},
        ) from None


def _too_large(max_body: int) -> Problem:
    return malformed(413, f"The request body is over {max_body // 1024} KiB.")


def malformed(status: int, message: str) -> Problem:
    """Return the error for a request that cannot be read, or whose format the server does not accept."""
    return Problem("VALIDATION_FAILED", message, status=status)
