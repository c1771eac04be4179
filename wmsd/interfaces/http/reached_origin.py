"""The origin at which clients reach the service.

The origin is `server.public_url`. Without this setting, it comes from the Host header, and trusted proxies can
correct its scheme, host and port with headers. Each proxy replaces the value of a header, or appends its own
value. If a request has passed n trusted proxies, only the last n values of a header can be trusted. The first of
these values comes from the outermost proxy, which has received the browser's request.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from wmsd.base.client_addresses import Network
from wmsd.base.origins import HOST, PORTS, written_origin
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web

FORWARDED: Final = ("X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port")


class Front(NamedTuple):
    """The proxies in front of the service, and its public address."""

    proxies: Sequence[Network]
    """The address ranges of the trusted proxies."""
    public_url: str = ""
    """The setting `server.public_url`, or "" if the setting is missing."""


def origin(request: web.BaseRequest, front: Front, passed: int) -> str:
    """Return the scheme and host at which the client has reached wmsd, through `passed` trusted proxies.

    Return "" if the host is not known, or if a trusted proxy sends an invalid value.
    """
    if front.public_url:
        return front.public_url
    scheme, host = "https" if request.secure else "http", request.headers.get("Host", "")
    if passed:
        scheme, host = _forwarded(request, passed, scheme, host)
    return written_origin(scheme, host)


def _forwarded(request: web.BaseRequest, passed: int, scheme: str, host: str) -> tuple[str, str]:
    """Return the scheme and host that the outermost of the `passed` trusted proxies reports.

    If it does not report a value, return `scheme` or `host` instead.
    """
    said_scheme, said_host, port = (_said(request, name, passed) for name in FORWARDED)
    scheme, host = said_scheme.lower() or scheme, said_host or host
    named = HOST.fullmatch(host)
    other = PORTS["http" if scheme == "https" else "https"]
    # Port 80 with https is the port of a proxy behind a TLS proxy. The client has not reached this port.
    if port and port != str(other) and named is not None and named[2] is None:
        host = f"{host}:{port}"
    return scheme, host


def _said(request: web.BaseRequest, name: str, passed: int) -> str:
    """Return the value of the header `name` from the outermost of the `passed` trusted proxies.

    If the header has fewer than `passed` values, return its first value. Return "" if there is no such header.
    """
    if name not in request.headers:
        return ""
    said = [each.strip() for each in ",".join(requests.every(request, name)).split(",")]
    return next(iter([each for each in said if each][-passed:]), "")
