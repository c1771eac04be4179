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
"""SIOCGIFADDR, netdevice(7)."""
IPV6_INTERFACES: Final = Path("/proc/net/if_inet6")
ELSEWHERE: Final = ("203.0.113.1", 9)
"""An address that is nobody's (RFC 5737)."""
HOST_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class MachineNames:
    """`names` in small letters, `addresses` in their order."""

    names: tuple[str, ...]
    addresses: tuple[Address, ...]


def machine_names() -> MachineNames:
    """Those of now. Addresses that others than the LAN can reach it by are left out."""
    found = {*_ipv4(), *_ipv6(), IPv4Address("127.0.0.1"), IPv6Address("::1")}
    private = sorted((each for each in found if each.is_private), key=lambda each: (each.version, each.packed))
    return MachineNames(tuple(_names()), tuple(private))


def lan_address(has_ipv6: bool = False) -> Address | None:
    """The address by which a LAN is likely to reach this machine: that of the way out, or else a private one. With
    `has_ipv6`, and without an IPv4 address, one of IPv6.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out, suppress(OSError):
        way_out.connect(ELSEWHERE)  # it sends nothing
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
            with suppress(OSError):  # it has no such address
                answer = fcntl.ioctl(asking, GET_ADDRESS, struct.pack("256s", name.encode()[:15]))
                yield IPv4Address(answer[20:24])


def _ipv6() -> Iterator[Address]:
    with suppress(OSError, ValueError):
        for line in IPV6_INTERFACES.read_text(encoding="ascii").splitlines():
            address = IPv6Address(bytes.fromhex(line.split()[0]))
            if not address.is_link_local:  # it needs a zone, which no certificate has
                yield address


def is_in_networks(address: Address, networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
