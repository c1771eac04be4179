"""Certificates that lack, cannot be read, belong to another key, are over, or are for another name."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.app.diagnosis.scene import NOW, names, situation, told
from tests.app.tls.test_lan import BOX
from wmsd.app.diagnosis import certificates
from wmsd.app.tls.authority import AUTHORITY_LIFETIME, CERTIFICATE_LIFETIME, new_authority, new_certificate
from wmsd.app.tls.lan import certificate_for

DAY = timedelta(days=1)
END = NOW + CERTIFICATE_LIFETIME


def made(folder: Path) -> tuple[Path, Path]:
    """A certificate for box and 192.168.1.20, and its key."""
    signed = new_certificate(new_authority(BOX, NOW), BOX, NOW)
    certificate, key = folder / "served.pem", folder / "served.key"
    certificate.write_bytes(signed.certificate_pem)
    key.write_bytes(signed.key_pem)
    return certificate, key


def served(certificate: Path, key: Path, listen: str = "127.0.0.1:0") -> dict[str, dict[str, object]]:
    return {
        "server": {"tls": "files", "certificate": certificate, "certificate_key": key, "listen": listen},
    }


def found(data: Path, listen: str = "127.0.0.1:0") -> list[str]:
    return names(certificates.look(situation(data, served(*made(data.parent), listen))))


def test_one_that_is_good(data: Path) -> None:
    assert found(data) == []


def test_plain_http_needs_none(data: Path) -> None:
    assert names(certificates.look(situation(data))) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (END - 15 * DAY, []),
        (END - 14 * DAY, ["certificate-ends"]),
        (END - timedelta(seconds=1), ["certificate-ends"]),
        (END, ["certificate-expired"]),
        (NOW - 2 * DAY, ["certificate-early"]),
    ],
)
def test_its_time(data: Path, now: datetime, expected: list[str]) -> None:
    at = situation(data, served(*made(data.parent)), now=now)
    assert names(certificates.look(at)) == expected


def test_it_says_how_many_days_are_left(data: Path) -> None:
    at = situation(data, served(*made(data.parent)), now=END - 3 * DAY)
    assert told(certificates.look(at), "certificate-ends").endswith(f" expires on {END:%Y-%m-%d}, in 3 days.")


@pytest.mark.parametrize(
    ("listen", "expected"),
    [
        ("192.168.1.20:0", []),
        ("box:0", []),
        ("BOX.local:0", []),
        ("0.0.0.0:0", []),
        ("192.168.1.99:0", ["certificate-names"]),
        ("shop.example.com:0", ["certificate-names"]),
    ],
)
def test_its_names(data: Path, listen: str, expected: list[str]) -> None:
    assert found(data, listen) == expected


def no_certificate(certificate: Path, key: Path) -> None:
    certificate.unlink()


def other_key(certificate: Path, key: Path) -> None:
    other = new_certificate(new_authority(BOX, NOW), BOX, NOW)
    key.write_bytes(other.key_pem)


def no_key(certificate: Path, key: Path) -> None:
    key.write_bytes(certificate.read_bytes())


def noise(certificate: Path, key: Path) -> None:
    certificate.write_bytes(b"noise")


@pytest.mark.parametrize(
    ("breaks", "reason"),
    [
        (no_certificate, "served.pem cannot be read: no such file or directory."),
        (other_key, "does not belong to the certificate in"),
        (no_key, "has no private key."),
        (noise, "has no certificate."),
    ],
)
def test_files_that_cannot_be_served(data: Path, breaks: Callable[[Path, Path], None], reason: str) -> None:
    certificate, key = made(data.parent)
    breaks(certificate, key)
    sentence = told(certificates.look(situation(data, served(certificate, key))), "certificate-unusable")
    assert sentence.startswith("The server cannot serve https: ")
    assert reason in sentence


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (NOW, []),
        (END - 28 * DAY, []),
        (END - 27 * DAY, ["certificate-not-renewed"]),
        (END + DAY, ["certificate-not-renewed"]),
        (NOW + AUTHORITY_LIFETIME - 121 * DAY, ["certificate-not-renewed"]),
        (NOW + AUTHORITY_LIFETIME - 119 * DAY, ["certificate-not-renewed", "authority-ends"]),
    ],
)
def test_the_one_of_the_lan(data: Path, now: datetime, expected: list[str]) -> None:
    """A server renews it 30 days before its end."""
    certificate_for(data, BOX, NOW)
    at = situation(data, {"server": {"tls": "lan"}}, now=now)
    assert names(certificates.look(at)) == expected


def test_the_lan_before_the_first_start(data: Path) -> None:
    assert names(certificates.look(situation(data, {"server": {"tls": "lan"}}))) == []
