"""What an HTTP request says: its address, token, query and body. Refuses what HTTP itself gets wrong."""

import ipaddress
from collections.abc import Sequence

from yarl import URL

from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.base.strict_json import loads, printable
from wmsd.interfaces.http.web import web

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def client_address(request: web.BaseRequest, trusted: Sequence[Network]) -> str:
    """The caller's address; behind trusted proxies, the one that they vouch for. IPv6 counts by its /64."""
    address = request.remote or ""
    if trusted:
        hops = [hop.strip() for hop in ",".join(request.headers.getall("X-Forwarded-For", [])).split(",")]
        while hops and _is_trusted(address, trusted):
            hop = hops.pop()
            if not _is_address(hop):
                break
            address = hop
    return _budget_key(address)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    return _is_address(address) and any(ipaddress.ip_address(address) in network for network in trusted)


def _budget_key(address: str) -> str:
    if ":" not in address or not _is_address(address):
        return address
    parsed = ipaddress.IPv6Address(address.partition("%")[0])
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False))


def bearer(request: web.Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def query(request: web.Request) -> dict[str, str]:
    """Raises Problem (422) for a parameter that is given twice or is not Unicode text."""
    return read_query(request.rel_url) if request.query_string else {}


def read_query(url: URL) -> dict[str, str]:
    values: dict[str, str] = {}
    errors: FieldErrors = {}
    for name, value in url.query.items():
        shown = printable(name)
        if shown != name or printable(value) != value:
            errors[shown] = ["must be UTF-8 text"]
        elif name in values:
            errors[name] = ["is given twice"]
        values[name] = value
    if errors:
        raise invalid(errors)
    return values


async def json_body(request: web.Request, max_body: int) -> tuple[dict[str, object], FieldErrors]:
    """The object in the body, and its flaws. Raises Problem: 415, 413 or 400."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _refused(415, "Compressed request bodies are not accepted; send it as it is.")
    if request.content_type != "application/json":
        raise _refused(415, "Send the body as JSON, with Content-Type: application/json.")
    if (request.charset or "utf-8").lower().replace("-", "") != "utf8":
        raise _refused(415, "Send the body in UTF-8.")
    return loads(await _read(request, max_body))


async def _read(request: web.Request, max_body: int) -> bytes:
    """The body, of which no more is read than may be sent."""
    chunks: list[bytes] = []
    room = max_body
    if (request.content_length or 0) <= max_body:
        while chunk := await request.content.readany():
            chunks.append(chunk)
            room -= len(chunk)
            if room < 0:
                break
        else:
            return b"".join(chunks)
    raise _refused(413, f"The request body is over {max_body // 1024} KiB.")


def _refused(status: int, message: str) -> Problem:
    return Problem("VALIDATION_FAILED", message, status=status)
