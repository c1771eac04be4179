"""Checks a receiver's URL and headers when a user sets them.

The network address of the receiver is checked again when wmsd connects to it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import AddressValueError, IPv4Address
from typing import Final

from yarl import URL

from wmsd.http_client.guard import Guard

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
LONGEST_URL: Final = 2048
LONGEST_HOST: Final = 253
MOST_HEADERS: Final = 20
LONGEST_NAME: Final = 100
LONGEST_VALUE: Final = 4096
LARGEST_HEADERS: Final = 8192

# Characters that parsers drop, trim or interpret differently: controls, white space, and the backslash.
# Compiled when first used and then cached by `re`, because a server start does not need them.
_UNREADABLE: Final = r"[\x00-\x20\x7f-\xa0\\\s\ud800-\udfff\u200b-\u200f\u2028-\u202e\ufeff]"
_PARTS: Final = r"(?i:(https?))://([^/?#]*)[^#]*(#?)"
_PORT: Final = r":([^:\]]*)\Z"
_LABEL: Final = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NUMBER: Final = r"\d+|0x[0-9a-f]*"
_LOCAL: Final = r"(.*\.)?(localhost|localhost6?\.localdomain6?|ip6-localhost|ip6-loopback)"
_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE: Final = r"[\x21-\x7e]+( +[\x21-\x7e]+)*"

OWN_HEADERS: Final = frozenset(
    {
        *("host", "connection", "keep-alive", "upgrade", "http2-settings", "te", "trailer", "transfer-encoding"),
        *("expect", "accept-encoding", "user-agent", "cookie", "cookie2", "date", "via"),
    }
)
OWN_PREFIXES: Final = ("content-", "proxy-", "sec-", "x-webhook-", "webhook-", "x-threepl-")


def url_errors(url: str, guard: Guard) -> list[str]:
    """Return a sentence for each error in the URL. Return an empty list if wmsd may try to send to the URL."""
    if len(url) > LONGEST_URL:
        return [f"The URL must have at most {LONGEST_URL} characters."]
    if re.search(_UNREADABLE, url):
        return ["The URL must not contain white space, control characters or backslashes."]
    parts = re.match(_PARTS, url)
    if parts is None:
        return [f"The URL must begin with {'https:// or http://' if guard.allow_http else 'https://'}."]
    scheme, authority, fragment = parts[1].lower(), parts[2], parts[3]
    return [
        *(["The URL must begin with https://."] if scheme == "http" and not guard.allow_http else []),
        *_authority_errors(url, scheme, authority, guard),
        *(["The URL must not have a fragment (#), because wmsd cannot send a fragment."] if fragment else []),
    ]


def parse_url(url: str) -> URL:
    """Return the URL as it will be sent: unchanged, unless it needs encoding. Raise ValueError if the URL is not
    valid.
    """
    return URL(url, encoded=url.isascii())


def _authority_errors(url: str, scheme: str, authority: str, guard: Guard) -> Iterator[str]:
    if "@" in authority:
        yield "The URL must not contain credentials. Send the credentials in a header."
        return
    port = re.search(_PORT, authority)
    if port and not (port[1].isascii() and port[1].isdigit() and 0 < int(port[1]) < 65536):
        yield "The port of the URL must be a number from 1 to 65535."
        return
    try:
        host = parse_url(url).raw_host
    except ValueError:
        host = None
    if not host or ("[" in authority and ":" not in host):
        yield "The URL must have a host."
        return
    yield from _host_errors(host.lower(), scheme, int(port[1]) if port else DEFAULT_PORTS[scheme], guard)


def _host_errors(host: str, scheme: str, port: int, guard: Guard) -> Iterator[str]:
    address = literal(host)
    if address is not None:
        objection = guard.objection(address, scheme, port)
        if objection:
            yield objection
    elif objection := guard.objection_to_port(port):
        yield objection
    elif re.fullmatch(_NUMBER, host.rstrip(".").rpartition(".")[2]):
        yield (
            f"The host {host} can mean different addresses. Write the address as four numbers, such as 192.0.2.1."
        )
    elif len(host) > LONGEST_HOST or not all(re.fullmatch(_LABEL, label) for label in host.split(".")):
        yield "The host of the URL is not a valid name."


def literal(host: str) -> str | None:
    """Return `host` if it is an IP address. Return 127.0.0.1 if it is a name of this machine, such as localhost.
    Return None for any other name, which needs a DNS lookup.
    """
    if ":" in host:
        return host
    if re.fullmatch(_LOCAL, host):
        return "127.0.0.1"
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        return None


def header_errors(headers: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the error sentences of each header that has errors, by the header's name. The key "" has the errors
    that concern all headers together.
    """
    errors = {name: found for name, value in headers.items() if (found := list(_errors_of_one(name, value)))}
    if of_all := list(_errors_of_all(headers)):
        errors[""] = of_all
    return errors


def _errors_of_all(headers: Mapping[str, str]) -> Iterator[str]:
    if len(headers) > MOST_HEADERS:
        yield f"There must be at most {MOST_HEADERS} headers."
    if sum(len(name) + len(value) for name, value in headers.items()) > LARGEST_HEADERS:
        yield f"The headers must have at most {LARGEST_HEADERS} characters together."
    for name, count in Counter(name.lower() for name in headers).items():
        if count > 1:
            yield f"The header {name} appears more than once."


def _errors_of_one(name: str, value: str) -> Iterator[str]:
    if not re.fullmatch(_TOKEN, name) or len(name) > LONGEST_NAME:
        yield f"The name must be a header name of at most {LONGEST_NAME} characters."
    elif is_own(name):
        yield "wmsd sets this header itself. Choose another name."
    if not re.fullmatch(_VALUE, value) or len(value) > LONGEST_VALUE:
        yield f"The value must have 1 to {LONGEST_VALUE} visible ASCII characters, with spaces only between them."


def is_own(name: str) -> bool:
    """Return True if the header is reserved for wmsd. A user may not set a reserved header.

    Like many receivers, wmsd treats an underscore in the name as a hyphen.
    """
    plain = name.lower().replace("_", "-")
    return plain in OWN_HEADERS or plain.startswith(OWN_PREFIXES)
