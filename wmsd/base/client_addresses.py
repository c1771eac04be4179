"""Addresses of clients, converted to the keys by which rate limits count requests."""

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(texts: Sequence[str]) -> list[Network]:
    """Parse networks in CIDR form, such as 10.0.0.0/8. Raise ValueError if a text is not a network."""
    return [ipaddress.ip_network(text) for text in texts]


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_in(address: str, networks: Sequence[Network]) -> bool:
    if not networks:
        return False
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)


def without_port(text: str) -> str:
    """Return the address without its port. Some proxies add a port: 192.0.2.1:4711 or [2001:db8::1]:4711."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, colon, port = text.partition(":")
    return host if colon and port.isascii() and port.isdigit() else text


def counted_as(address: str) -> str:
    """Return the key under which requests of an address are counted.

    The key of an IPv6 address is its /64 network, because one caller usually has the whole network.
    """
    if ":" not in address or not is_address(address):
        return address
    parsed = ipaddress.IPv6Address(address.partition("%")[0])
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False))
