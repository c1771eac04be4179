"""Tests of which addresses wmsd may connect to, and of the settings that allow others."""

import socket
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wmsd.http_client import guard as module
from wmsd.http_client.guard import RANGES, Guard, Rule, is_here
from wmsd.http_client.ports import WEB

EVERYTHING = ["0.0.0.0/0", "::/0"]
NEVER = [
    *("0.0.0.0", "0.1.2.3", "::"),
    *("192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"),
    *("198.18.0.1", "198.19.255.255", "192.0.0.8", "240.0.0.1", "255.255.255.255", "100::1", "5f00::1"),
    *("224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1"),
    *("64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::224.0.0.1"),
    *("64:ff9b:1::1", "64:ff9b:1::10.0.0.1", "64:ff9b:2::1"),
    *("2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.88.99.1"),
    *("2001:4860:4860::5efe:127.0.0.1", "2001:4860:4860::200:5efe:10.0.0.1"),
    *("2001:10::1", "2001:20::1", "4000::1", "8000::1", "fe00::1", "200::1"),
    *("fe80::1%eth0", "fe80::1%1", "::1%lo", "2606:4700::1111%eth0"),
    *("", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1 ", "1.2.3.4/32", "::1/128"),
]
ONE_BY_ONE = [
    *("127.0.0.1", "127.255.255.254", "::1"),
    *("169.254.169.254", "169.254.170.2", "169.254.0.1", "fe80::1", "fe80::a9fe:a9fe", "febf::1"),
    *("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
    "fd00:42::42",
]
PRIVATE = [
    *(
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "100.64.0.1",
        "100.127.255.255",
    ),
    *("fc00::1", "fd12:3456::1", "fec0::1"),
]
PUBLIC = [
    *("8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255"),
    *("100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "223.255.255.255"),
    *("2606:4700::1111", "2001:4860:4860::8888", "2a00::1", "2003::1", "64:ff9b::8.8.8.8"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert Guard().objection(address, "https") is None


@pytest.mark.parametrize("address", NEVER)
def test_never(address: str) -> None:
    itself = [f"{address}/{ip_address(address).max_prefixlen}"] if _is_plain(address) else []
    listed = Guard([*EVERYTHING, *itself], allow_http=True)
    for scheme in ("https", "http"):
        sentence = listed.objection(address, scheme)
        assert sentence is not None
        assert "allow_networks" not in sentence


def _is_plain(address: str) -> bool:
    try:
        return "%" not in address and bool(ip_address(address))
    except ValueError:
        return False


@pytest.mark.parametrize("address", ONE_BY_ONE)
def test_one_by_one(address: str) -> None:
    itself = f"{address}/{ip_address(address).max_prefixlen}"
    around = str(ip_network(itself).supernet())
    for listed in ([], EVERYTHING, [around], ["127.0.0.2/32"]):
        sentence = Guard(listed, allow_http=True).objection(address, "https") or ""
        assert sentence.startswith(f"{ip_address(address)} is ")
        assert sentence.endswith(f"add {itself} to webhooks.allow_networks (a larger network is not enough).")
    assert Guard([itself]).objection(address, "https") is None


@pytest.mark.parametrize("address", PRIVATE)
def test_private(address: str) -> None:
    for listed in ([], ["10.1.0.0/32"], ["fd99::/16"]):
        sentence = Guard(listed).objection(address, "https") or ""
        assert (
            sentence == f"{address} is a private address; to allow it, add its network to webhooks.allow_networks."
        )
    for listed in (EVERYTHING, [f"{address}/{ip_address(address).max_prefixlen}"]):
        assert Guard(listed).objection(address, "https") is None


def test_http_only_to_listed_networks_and_when_allowed() -> None:
    network = ["10.0.0.0/8", "127.0.0.1/32", "93.184.0.0/16"]
    for address in ("10.0.0.1", "127.0.0.1", "93.184.1.1"):
        assert Guard(network, allow_http=True).objection(address, "http") is None
        assert Guard(network).objection(address, "http") == (
            "URLs that begin with http: are not allowed. Use a URL that begins with https:."
        )
    sentence = Guard(network, allow_http=True).objection("8.8.8.8", "http")
    assert sentence == (
        "http: is not allowed for 8.8.8.8. Use https:, or add its network to webhooks.allow_networks."
    )


@pytest.mark.parametrize("scheme", ["ftp", "file", "gopher", "", "HTTPS", "ws"])
def test_no_other_scheme(scheme: str) -> None:
    assert Guard(EVERYTHING, allow_http=True).objection("8.8.8.8", scheme) is not None


def test_the_service_does_not_call_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Guard(
        ["127.0.0.1/32", "127.0.0.9/32", "::1/128", "192.168.0.0/16"], own_ports=[8480], allow_ports=[8480, 8481]
    )
    for address in ("127.0.0.1", "127.0.0.9", "::1"):
        assert (
            listed.objection(address, "https", 8480)
            == f"{address} at port 8480 is the address of wmsd. Use the address of another service."
        )
        assert listed.objection(address, "https", 8481) is None
    assert listed.objection("192.168.255.1", "https", 8480) is None
    monkeypatch.setattr(module, "is_here", lambda ip: True)
    assert listed.objection("192.168.255.1", "https", 8480) is not None
    assert listed.objection("8.8.8.8", "https", 8480) is not None


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "fd12:3456::1"])
def test_what_only_a_listing_admits_has_the_listed_ports(address: str) -> None:
    listing = ["10.0.0.0/8", "127.0.0.1/32", "169.254.169.254/32", "fc00::/7"]
    kind_of = Guard().objection(address, "https") or ""
    cases: list[tuple[Sequence[int | str], tuple[int, ...], tuple[int, ...]]] = [
        (WEB, (80, 443), (1024, 8080, 8443, 65535)),
        ([8443, "9000-9002"], (8443, 9000, 9002), (80, 443, 8999, 9003)),
        (["9100"], (9100,), (443, 9101)),
        ([], (), (80, 443)),
    ]
    for ports, good, bad in cases:
        listed = Guard(listing, allow_ports=ports)
        for port in good:
            assert listed.objection(address, "https", port) is None
        for port in bad:
            sentence = listed.objection(address, "https", port) or ""
            assert (
                sentence == f"{kind_of.partition(';')[0]}; to allow it, add port {port} to webhooks.allow_ports."
            )
    assert "allow_networks" in (Guard(allow_ports=["1-65535"]).objection(address, "https", 8443) or "")


def test_public_addresses_have_any_port_though_their_network_is_listed() -> None:
    for guard in (Guard(), Guard(["8.0.0.0/8"], allow_http=True, allow_ports=[443])):
        for port in (80, 443, 8443, 9100, 65535):
            assert guard.objection("8.8.8.8", "https", port) is None
    assert Guard(["8.0.0.0/8"], allow_http=True, allow_ports=[443]).objection("8.8.8.8", "http", 8080) is None


@pytest.mark.parametrize("port", [22, 25, 53, 110, 143, 465, 587, 993, 2049, 6000, 6667, 10080])
def test_ports_of_other_protocols_are_never_dialled(port: int) -> None:
    guard = Guard(["10.0.0.0/8"], allow_ports=[port, "1-65535"])
    for address in ("8.8.8.8", "2606:4700::1111", "10.0.0.1"):
        sentence = guard.objection(address, "https", port)
        assert sentence == f"Port {port} belongs to another protocol. Use a different port."


def test_what_is_here() -> None:
    assert is_here(ip_address("127.0.0.1"))
    assert not is_here(ip_address("8.8.8.8"))
    assert not is_here(ip_address("2606:4700::1111"))
    assert not is_here(ip_address("64:ff9b::8.8.8.8"))
    assert not is_here(ip_address("2606:4700::127.0.0.1")), "an IPv4 address inside counts after NAT64 only"


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this machine has no IPv6")
def test_an_address_of_ipv6_is_looked_for_among_those_of_ipv6() -> None:
    assert is_here(ip_address("::")), "any of them"


@given(st.ip_addresses())
@example(ip_address("192.0.0.9"))
@example(ip_address("2001:1::1"))
def test_nothing_is_admitted_that_python_takes_for_special(
    address: object,
) -> None:
    """Nothing is allowed that Python counts as a special address, unless it is listed.

    Python's own table is not enough, but what it refuses must be refused here too.
    """
    ip = ip_address(str(address))
    if not ip.is_global or ip.is_multicast:
        assert Guard().objection(str(ip), "https") is not None


def test_every_range_is_refused_by_its_rule() -> None:
    for found in RANGES:
        for network in found.networks:
            first = str(ip_network(network).network_address)
            assert Guard().objection(first, "https") is not None
            by_network = Guard(EVERYTHING).objection(first, "https") is None
            assert by_network == (found.rule is Rule.BY_NETWORK)


def own_address() -> str:
    """Return an address of this machine that is not loopback. No packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(probe.getsockname()[0])


def test_this_service_is_known_by_each_address_of_its_machine() -> None:
    own = own_address()
    assert is_here(ip_address(own))
    assert is_here(ip_address(f"64:ff9b::{own}"))
