"""Tests of values from outside: times, random names, addresses, and the sealing of secrets."""

import os
import re
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from wmsd.base import ids as module
from wmsd.base.client_addresses import counted_as, is_in, networks, without_port
from wmsd.base.clock import SystemClock
from wmsd.base.ids import RandomIds
from wmsd.base.problems import unavailable
from wmsd.base.vault import Vault


def test_the_clock_is_the_machines_and_in_utc() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert abs(clock.monotonic() - time.monotonic()) < 5
    assert abs(clock.passed() - time.clock_gettime(time.CLOCK_BOOTTIME)) < 5


def test_no_two_names_are_the_same() -> None:
    """Names are unique beyond the number that is drawn in one block."""
    ids = RandomIds()
    drawn = [ids.unique() for _ in range(1000)]
    assert len(set(drawn)) == 1000
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in drawn)


def test_a_secret_has_256_bits() -> None:
    ids = RandomIds()
    assert ids.secret() != ids.secret()
    assert re.fullmatch("[A-Za-z0-9_-]{43}", ids.secret())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("[2001:db8::1]:]", "2001:db8::1"),
        ("192.0.2.1:x", "192.0.2.1:x"),
        ("192.0.2.1:", "192.0.2.1:"),
        ("192.0.2.1:\u0664\u0667", "192.0.2.1:\u0664\u0667"),
        ("a:b:1", "a:b:1"),
        ("", ""),
    ],
)
def test_an_address_without_its_port(text: str, address: str) -> None:
    assert without_port(text) == address


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("no:address", "no:address"),
        ("unknown", "unknown"),
    ],
)
def test_what_an_address_is_counted_by(address: str, counted: str) -> None:
    assert counted_as(address) == counted


def test_networks_have_addresses_and_nothing_else() -> None:
    given = networks(["192.0.2.0/24", "2001:db8::/32"])
    assert is_in("192.0.2.255", given)
    assert is_in("2001:db8:ffff::1", given)
    assert not is_in("192.0.3.0", given)
    assert not is_in("192.0.2.1:80", given)


def test_what_is_sealed_is_read_with_its_key_alone() -> None:
    sealed = Vault("key").seal("p\u00e4ssword")
    assert "ssword" not in sealed
    assert Vault("key").unseal(sealed) == "p\u00e4ssword"
    assert Vault("other").unseal(sealed) is None
    assert Vault("key").unseal(f"{sealed[:-4]}AAA=") is None


def test_what_cannot_be_done_now_says_when_to_come_again() -> None:
    problem = unavailable("Not now.")
    assert (problem.status, problem.message, problem.headers) == (503, "Not now.", {"Retry-After": "5"})
    assert unavailable("Not now.", 30).headers == {"Retry-After": "30"}


def test_it_is_asked_for_no_more_than_it_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """One block gives 256 names of 16 bytes each."""
    drawn: list[int] = []

    def urandom(size: int) -> bytes:
        drawn.append(size)
        return os.urandom(size)

    monkeypatch.setattr(module, "os", SimpleNamespace(urandom=urandom))
    ids = RandomIds()
    for _ in range(257):
        ids.unique()
    assert drawn == [16 * 256, 16 * 256]
