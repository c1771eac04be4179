"""Tests of an installation's certificate authority: what it certifies, and when a new certificate is issued."""

import ipaddress
import stat
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.support.programs import program
from wmsd.host.tls.authority import certificate_fingerprint, new_authority, new_certificate
from wmsd.host.tls.lan_certificate import authority_of, certificate_for, names_of, served_of
from wmsd.host.tls.machine_names import MachineNames, machine_names

NOW = datetime(2026, 11, 24, 8, tzinfo=UTC)
DAY = timedelta(days=1)
BOX = MachineNames(
    ("localhost", "box", "box.local"), tuple(map(ipaddress.ip_address, ("127.0.0.1", "192.168.1.20", "::1")))
)


def moved(*addresses: str) -> MachineNames:
    return MachineNames(BOX.names, tuple(map(ipaddress.ip_address, addresses)))


def serial(data: Path) -> int:
    served = served_of(data)
    assert served is not None
    return served.serial_number


def test_the_first_certificate(tmp_path: Path) -> None:
    certificate_for(tmp_path, BOX, NOW)
    served, authority = served_of(tmp_path), authority_of(tmp_path)
    assert served is not None
    assert authority is not None
    served.verify_directly_issued_by(authority)
    assert [*names_of(served)] == ["localhost", "box", "box.local", "127.0.0.1", "192.168.1.20", "::1"]
    usage = served.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [*usage] == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert served.not_valid_after_utc - served.not_valid_before_utc < timedelta(days=825)
    for file in (tmp_path / "tls").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "tls").stat().st_mode) == 0o700


def test_openssl_accepts_the_chain_for_this_machine_only(tmp_path: Path) -> None:
    authority = new_authority(BOX, NOW)
    (tmp_path / "authority.pem").write_bytes(authority.certificate_pem)

    def verified(machine: MachineNames, host: str) -> bool:
        (tmp_path / "served.pem").write_bytes(new_certificate(authority, machine, NOW).certificate_pem)
        at = str(int((NOW + DAY).timestamp()))
        command = [program("openssl"), "verify", "-x509_strict", "-attime", at, "-verify_ip", host]
        done = subprocess.run(
            [*command, "-CAfile", "authority.pem", "served.pem"], cwd=tmp_path, capture_output=True
        )
        return done.returncode == 0

    assert verified(BOX, "192.168.1.20")
    assert not verified(BOX, "192.168.1.21")


def test_the_authority_vouches_for_nothing_outside_of_the_lan(tmp_path: Path) -> None:
    """The authority certifies nothing outside the LAN: no public address and no internet name, even if the machine
    has one.
    """
    named = MachineNames(
        ("localhost", "www.example.com"), tuple(map(ipaddress.ip_address, ("8.8.8.8", "10.0.0.1")))
    )
    certificate_for(tmp_path, BOX, NOW)
    certificate_for(tmp_path, named, NOW)
    served = served_of(tmp_path)
    assert served is not None
    assert [*names_of(served)] == ["localhost", "10.0.0.1"]


@pytest.mark.parametrize(
    ("machine", "later", "is_new"),
    [
        (BOX, 0 * DAY, False),
        (BOX, 300 * DAY, False),
        (BOX, 368 * DAY, True),
        (BOX, -30 * DAY, True),
        (moved("127.0.0.1", "192.168.1.99"), 0 * DAY, True),
    ],
)
def test_when_a_certificate_is_made_anew(
    tmp_path: Path, machine: MachineNames, later: timedelta, is_new: bool
) -> None:
    certificate_for(tmp_path, BOX, NOW)
    before, authority = serial(tmp_path), authority_of(tmp_path)
    certificate_for(tmp_path, machine, NOW + later)
    assert (serial(tmp_path) != before) == is_new
    assert authority_of(tmp_path) == authority


def test_the_authority_is_made_anew_before_its_end(tmp_path: Path) -> None:
    certificate_for(tmp_path, BOX, NOW)
    before = authority_of(tmp_path)
    certificate_for(tmp_path, BOX, NOW + timedelta(days=3640))
    after, served = authority_of(tmp_path), served_of(tmp_path)
    assert before is not None
    assert after is not None
    assert served is not None
    assert certificate_fingerprint(after) != certificate_fingerprint(before)
    served.verify_directly_issued_by(after)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize("damage", [Path.unlink, _cut, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("name", ["served.pem", "authority.pem", "authority.key"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, name: str, damage: Callable[[Path], object]) -> None:
    certificate_for(tmp_path, BOX, NOW)
    damage(tmp_path / "tls" / name)
    certificate_for(tmp_path, BOX, NOW)
    served, authority = served_of(tmp_path), authority_of(tmp_path)
    assert served is not None
    assert authority is not None
    served.verify_directly_issued_by(authority)


def test_what_a_crash_left_is_replaced(tmp_path: Path) -> None:
    certificate_for(tmp_path, BOX, NOW)
    (tmp_path / "tls" / "served.pem.new").write_bytes(b"half")
    certificate_for(tmp_path, moved("10.0.0.5"), NOW)
    assert sorted(each.name for each in (tmp_path / "tls").iterdir()) == [
        "authority.key",
        "authority.pem",
        "served.pem",
    ]


def test_the_names_of_this_machine() -> None:
    found = machine_names()
    assert found.names[0] == "localhost"
    assert {ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")} <= set(found.addresses)
