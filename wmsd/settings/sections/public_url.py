"""`server.public_url`: the address at which people open wmsd, in the form that browsers use."""

from typing import Final
from urllib.parse import urlsplit

from wmsd.base.origins import PORTS, written_origin

EXAMPLE: Final = "https://wms.example.com"


def check_public_url(value: str) -> str:
    """Return the origin of a URL, or "" for an empty value. Raise ValueError if the URL is more than an origin."""
    if not value:
        return value
    parts = urlsplit(value)
    if parts.scheme not in PORTS:
        raise ValueError(f"must begin with https:// or http://, such as {EXAMPLE}")
    if path := parts.path.strip("/"):
        raise ValueError(
            f"has the path /{path[:200]}, but wmsd does not support a sub-path: give wmsd its own host name"
        )
    if "@" in parts.netloc or value.rstrip("/") != f"{value[: len(parts.scheme)]}://{parts.netloc}":
        raise ValueError(f"must have only a scheme, a host and optionally a port, such as {EXAMPLE}")
    origin = written_origin(parts.scheme, _as_browsers_send(parts.netloc))
    if not origin:
        raise ValueError(
            f"must have the name or address of a host, optionally with a port up to 65535, such as {EXAMPLE}"
        )
    return origin


def _as_browsers_send(host: str) -> str:
    """Return the host with its non-ASCII letters in punycode (IDNA, UTS #46). Return "" if the host cannot be
    converted.
    """
    if host.isascii():
        return host
    import idna  # imported here: its large tables are seldom needed

    name, colon, port = host.partition(":")
    try:
        return f"{idna.encode(name, uts46=True).decode()}{colon}{port}"
    except idna.IDNAError:
        return ""
