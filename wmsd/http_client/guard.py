"""Decides which addresses wmsd may connect to. Every URL here may be hostile.

`ipaddress.is_global` is not sufficient: it treats multicast addresses and translated private addresses as global,
and does not know the metadata addresses of clouds.
"""

import socket
from collections.abc import Collection, Sequence
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

from wmsd.http_client import ports

Address = IPv4Address | IPv6Address


class Rule(Enum):
    """Which entries in `allow_networks` can allow an address: any network that contains the address, only an entry
    for this single address, or no entry.
    """

    BY_NETWORK = "by network"
    ONE_BY_ONE = "one by one"
    NEVER = "never"


class Range(NamedTuple):
    """A range of addresses. `says` describes an address in the range, such as "a private address"."""

    rule: Rule
    says: str
    networks: tuple[str, ...]


METADATA: Final = Range(
    Rule.ONE_BY_ONE,
    "a metadata address of a cloud",
    (
        "169.254.169.254/32",
        "168.63.129.16/32",  # Azure: within public addresses
        "100.100.100.200/32",  # Alibaba
        "192.0.0.192/32",  # Oracle
        "fd00:ec2::/32",  # AWS: instances, clocks, names, containers
        "fd20:ce::254/128",  # Google
        "fd00:42::42/128",  # Scaleway
        "fe80::a9fe:a9fe/128",  # OpenStack
    ),
)
RANGES: Final = (
    METADATA,
    Range(Rule.NEVER, "an unspecified address of this machine", ("0.0.0.0/8", "::/128")),
    Range(Rule.ONE_BY_ONE, "a loopback address", ("127.0.0.0/8", "::1/128")),
    Range(Rule.ONE_BY_ONE, "a link-local address", ("169.254.0.0/16", "fe80::/10")),
    Range(
        Rule.BY_NETWORK,
        "a private address",
        ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    ),
    Range(
        Rule.NEVER,
        "a translated address, which hides another address",
        # mapped and compatible IPv4, local NAT64, Teredo, 6to4 and its relays
        (
            "::/96",
            "::ffff:0:0/96",
            "::ffff:0:0:0/96",
            "64:ff9b:1::/48",
            "2001::/32",
            "2002::/16",
            "192.88.99.0/24",
        ),
    ),
    Range(
        Rule.NEVER,
        "an address for documentation",
        ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
    ),
    Range(Rule.NEVER, "a multicast address", ("224.0.0.0/4", "ff00::/8")),
    Range(
        Rule.NEVER,
        "a reserved address",
        ("192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "2001::/23", "100::/64", "5f00::/16"),
    ),
)
"""All special ranges. The first range that contains an address applies."""

PUBLIC_V6: Final = IPv6Network("2000::/3")
NAT64: Final = IPv6Network("64:ff9b::/96")
UNASSIGNED: Final = Range(Rule.NEVER, "an address outside the public internet", ())
TUNNELLED: Final = Range(Rule.NEVER, "a tunnel address, which hides another address", ())


class Guard:
    """The rules for outgoing connections of one installation. `own_ports` are the ports that this service listens
    on.

    `allow_networks` are the CIDR networks of the settings, which must be valid. Some addresses, such as 127.0.0.1,
    are allowed only by an entry for the single address, such as 127.0.0.1/32. `allow_ports` are the ports that
    wmsd may connect to at addresses in RANGES, in a form that `ports.parsed` reads.
    """

    def __init__(
        self,
        allow_networks: Sequence[str] = (),
        allow_http: bool = False,
        own_ports: Collection[int] = (),
        allow_ports: Sequence[int | str] = ports.WEB,
        section: str = "webhooks",
    ) -> None:
        """Create the guard. `section` is the section of the settings that messages name."""
        self.allow_http = allow_http
        self.section = section
        self._listed = [ip_network(network) for network in allow_networks]
        self._own_ports = frozenset(own_ports)
        self._allow_ports = ports.parsed(allow_ports)

    def objection(self, address: str, scheme: str, port: int = 443) -> str | None:
        """Return a sentence that says why wmsd may not connect to this address, or None if it may."""
        try:
            ip = ip_address(address)
        except ValueError:
            return f"{address} is not an address."
        if isinstance(ip, IPv6Address) and ip.scope_id is not None:
            return (
                f"{address} contains % and the name of a network interface, so it is valid only on this "
                "machine. Use another address."
            )
        return (
            self.objection_to_port(port)
            or self._about_address(ip, port)
            or self._about_scheme(ip, scheme)
            or self._about_self(ip, port)
        )

    def objection_to_address(self, address: str, port: int) -> str | None:
        """Return a sentence that says why wmsd may not connect to this address and port, or None if it may.

        `objection` also checks the scheme and `ports.NEVER`, which concern HTTP only. Use this method for other
        protocols too.
        """
        try:
            ip = ip_address(address)
        except ValueError:
            return f"{address} is not an address."
        return self._about_address(ip, port) or self._about_self(ip, port)

    def lists(self, address: str) -> bool:
        """Return True if `allow_networks` contains the address."""
        return self._is_listed(ip_address(address))

    def objection_to_port(self, port: int) -> str | None:
        """Return a sentence if the port is forbidden at every address. Return None if it is not."""
        if port in ports.NEVER:
            return f"Port {port} belongs to another protocol. Use a different port."
        return None

    def _about_address(self, ip: Address, port: int) -> str | None:
        found = kind(ip)
        if found is None:
            return None
        match found.rule:
            case Rule.NEVER:
                return f"{ip} is {found.says}, and wmsd never connects to such an address. Use another address."
            case Rule.BY_NETWORK if not self._is_listed(ip):
                return f"{ip} is {found.says}; to allow it, add its network to {self.section}.allow_networks."
            case Rule.ONE_BY_ONE if not self._is_listed_itself(ip):
                return (
                    f"{ip} is {found.says}; to allow it, add {ip}/{ip.max_prefixlen} to "
                    f"{self.section}.allow_networks (a larger network is not enough)."
                )
        if not any(port in allowed for allowed in self._allow_ports):
            return f"{ip} is {found.says}; to allow it, add port {port} to {self.section}.allow_ports."
        return None

    def _about_scheme(self, ip: Address, scheme: str) -> str | None:
        if scheme == "https":
            return None
        if scheme != "http" or not self.allow_http:
            return f"URLs that begin with {scheme}: are not allowed. Use a URL that begins with https:."
        if not self._is_listed(ip):
            return (
                f"http: is not allowed for {ip}. Use https:, or add its network to {self.section}.allow_networks."
            )
        return None

    def _about_self(self, ip: Address, port: int) -> str | None:
        if port in self._own_ports and is_here(ip):
            return f"{ip} at port {port} is the address of wmsd. Use the address of another service."
        return None

    def _is_listed(self, ip: Address) -> bool:
        return any(ip in network for network in self._listed)

    def _is_listed_itself(self, ip: Address) -> bool:
        return any(network.num_addresses == 1 and ip in network for network in self._listed)


@cache
def _networks() -> list[tuple[IPv4Network | IPv6Network, Range]]:
    """Return all networks with their ranges. The list is created at the first use, so that a server start does not
    wait for it.
    """
    return [(ip_network(network), found) for found in RANGES for network in found.networks]


def kind(ip: Address) -> Range | None:
    """Return the range of the address, or None for a public address."""
    for network, found in _networks():
        if ip in network:
            return found
    if isinstance(ip, IPv4Address):
        return None
    if ip in NAT64:
        # A host without IPv4 reaches only public IPv4 addresses in this way.
        return None if kind(last_four(ip)) is None else TUNNELLED
    if ip not in PUBLIC_V6:
        return UNASSIGNED
    return TUNNELLED if _is_isatap(ip) else None


def last_four(ip: IPv6Address) -> IPv4Address:
    return IPv4Address(int(ip) & 0xFFFF_FFFF)


def _is_isatap(ip: IPv6Address) -> bool:
    """Return True for an ISATAP address. Such an address ends with 00:00:5e:fe or 02:00:5e:fe and an
    IPv4 address.
    """
    return int(ip) >> 32 & 0xFDFF_FFFF == 0x0000_5EFE


def is_here(ip: Address) -> bool:
    """Return True if an interface of this machine has the address now."""
    if ip.is_loopback:
        return True
    if isinstance(ip, IPv6Address) and ip in NAT64:
        return is_here(last_four(ip))
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(ip), 0))  # only an address of this machine can be bound
        except OSError:
            return False
    return True
