"""The names and addresses by which a LAN reaches this machine."""

import fcntl
import ipaddress
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Final

from wmsd.base.dataclass import dataclass

GET_ADDRESS: Final = 0x8915
"""The request SIOCGIFADDR of netdevice(7)."""
IPV6_INTERFACES: Final = Path("/proc/net/if_inet6")
ELSEWHERE: Final = ("203.0.113.1", 9)
"""An address that belongs to no machine (RFC 5737). This machine's address on the route to it is the address that
other networks see.
"""
HOST_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class MachineNames:
    """The names in lower case, and the addresses in sorted order."""

    names: tuple[str, ...]
    addresses: tuple[Address, ...]


def machine_names() -> MachineNames:
    """Return the current names and private addresses. Addresses that can be reached from outside the LAN are left
    out.
    """
    found = {*_ipv4(), *_ipv6(), IPv4Address("127.0.0.1"), IPv6Address("::1")}
    private = sorted((each for each in found if each.is_private), key=lambda each: (each.version, each.packed))
    return MachineNames(tuple(_names()), tuple(private))


def lan_address(has_ipv6: bool = False) -> Address | None:
    """Return the address by which a LAN probably reaches this machine. This is the address that the default route
    uses. Without a default route, it is a private address.

    With `has_ipv6`, return an IPv6 address if there is no IPv4 address. Return None if there is no address.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out, suppress(OSError):
        way_out.connect(ELSEWHERE)  # connecting a datagram socket sends nothing
        found = IPv4Address(way_out.getsockname()[0])
        if not found.is_loopback:
            return found
    others = [*(each for each in _ipv4() if each.is_private), *(_ipv6() if has_ipv6 else ())]
    return next((each for each in others if not each.is_loopback), None)


def _names() -> Iterator[str]:
    yield "localhost"
    name = socket.gethostname().lower().rstrip(".")
    if HOST_NAME.fullmatch(name) and name != "localhost":
        yield name
        if "." not in name:
            yield f"{name}.local"  # multicast DNS, RFC 6762


def _ipv4() -> Iterator[IPv4Address]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # the interface has no IPv4 address
                answer = fcntl.ioctl(asking, GET_ADDRESS, struct.pack("256s", name.encode()[:15]))
                yield IPv4Address(answer[20:24])


def _ipv6() -> Iterator[Address]:
    with suppress(OSError, ValueError):
        for line in IPV6_INTERFACES.read_text(encoding="ascii").splitlines():
            address = IPv6Address(bytes.fromhex(line.split()[0]))
            if not address.is_link_local:  # a link-local address needs a zone, which a certificate cannot contain
                yield address


def is_in_networks(address: Address, networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
