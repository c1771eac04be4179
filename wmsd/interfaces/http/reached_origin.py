"""The origin at which people and programs reach the service: `server.public_url`, or else what Host says, and what
trusted proxies say of the scheme, host and port by which they were reached.

Each proxy replaces a header, or adds to its end what it has seen. So as many values are believed, from the end, as
the request has passed trusted proxies: that of the outermost one is the browser's.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from wmsd.base.client_addresses import Network
from wmsd.base.origins import HOST, PORTS, written_origin
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web

FORWARDED: Final = ("X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port")


class Front(NamedTuple):
    """What stands between the service and whoever reaches it."""

    proxies: Sequence[Network]
    """Those that are believed."""
    public_url: str = ""
    """`server.public_url`."""


def origin(request: web.BaseRequest, front: Front, passed: int) -> str:
    """The scheme and the host that the caller has reached, through so many trusted proxies. "" when nobody names
    a host, or when a trusted proxy says what cannot be read: it would be wrong to take http then.
    """
    if front.public_url:
        return front.public_url
    scheme, host = "https" if request.secure else "http", request.headers.get("Host", "")
    if passed:
        scheme, host = _forwarded(request, passed, scheme, host)
    return written_origin(scheme, host)


def _forwarded(request: web.BaseRequest, passed: int, scheme: str, host: str) -> tuple[str, str]:
    """Scheme and host as the outermost of the `passed` trusted proxies says."""
    said_scheme, said_host, port = (_said(request, name, passed) for name in FORWARDED)
    scheme, host = said_scheme.lower() or scheme, said_host or host
    named = HOST.fullmatch(host)
    other = PORTS["http" if scheme == "https" else "https"]
    if port and port != str(other) and named is not None and named[2] is None:  # of a proxy behind one with TLS
        host = f"{host}:{port}"
    return scheme, host


def _said(request: web.BaseRequest, name: str, passed: int) -> str:
    """What the outermost trusted proxy says; where fewer say something, the first of them. Empty: nobody does."""
    if name not in request.headers:
        return ""
    said = [each.strip() for each in ",".join(requests.every(request, name)).split(",")]
    return next(iter([each for each in said if each][-passed:]), "")
