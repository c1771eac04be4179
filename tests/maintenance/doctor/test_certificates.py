"""Certificates that are missing, unreadable, expired, for another name, or do not match their key."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.host.tls.test_lan import BOX
from tests.maintenance.doctor.scene import NOW, names, situation, told
from wmsd.host.tls.authority import (
    AUTHORITY_LIFETIME,
    CERTIFICATE_LIFETIME,
    Signed,
    new_authority,
    new_certificate,
)
from wmsd.host.tls.lan_certificate import AUTHORITY, FOLDER, certificate_for
from wmsd.http_client import trusted_authorities
from wmsd.maintenance.doctor.findings import certificate_findings_at

DAY = timedelta(days=1)
USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
END = NOW + CERTIFICATE_LIFETIME


def made(folder: Path) -> tuple[Path, Path]:
    """Create a certificate for box and 192.168.1.20, signed by the installation's authority, and its key."""
    authority = new_authority(BOX, NOW)
    (folder / "data" / FOLDER).mkdir(exist_ok=True)
    (folder / "data" / FOLDER / AUTHORITY).write_bytes(authority.certificate_pem)
    signed = new_certificate(authority, BOX, NOW)
    certificate, key = folder / "served.pem", folder / "served.key"
    certificate.write_bytes(signed.certificate_pem)
    key.write_bytes(signed.key_pem)
    return certificate, key


def new_root(name: str) -> Signed:
    return issued(name, None, is_authority=True)


def issued(name: str, issuer: Signed | None, is_authority: bool = False) -> Signed:
    """Issue a certificate that is valid now, by the clock of these tests and by the clock of the machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signing = key if issuer is None else issuer.key
    now = datetime.now(UTC)
    usage = dict.fromkeys(USAGES, False) | {"digital_signature": True, "key_cert_sign": is_authority}
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, NOW) - DAY)
        .not_valid_after(max(now, NOW) + 30 * DAY)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("box")]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
    )
    return Signed(builder.sign(signing, hashes.SHA256()), key)


def served(certificate: Path, key: Path, listen: str = "127.0.0.1:0") -> dict[str, dict[str, object]]:
    return {
        "server": {"tls": "files", "certificate": certificate, "certificate_key": key, "listen": listen},
    }


def found(data: Path, listen: str = "127.0.0.1:0") -> list[str]:
    return names(certificate_findings_at(situation(data, served(*made(data.parent), listen))))


def test_one_that_is_good(data: Path) -> None:
    assert found(data) == []


def test_plain_http_needs_none(data: Path) -> None:
    assert names(certificate_findings_at(situation(data))) == []


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
    assert names(certificate_findings_at(at)) == expected


def test_it_names_the_day(data: Path) -> None:
    at = situation(data, served(*made(data.parent)), now=END - 3 * DAY)
    sentence = f"The certificate {data.parent}/served.pem expires on {END:%Y-%m-%d}: then browsers and programs"
    assert told(certificate_findings_at(at), "certificate-ends") == f"{sentence} refuse it."


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Signed:
    """Create the only certificate authority that this machine trusts."""
    root = new_root("Root")
    (tmp_path / "root.pem").write_bytes(root.certificate_pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "root.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    return root


@pytest.mark.parametrize(
    ("has", "expected"), [(("leaf", "between"), []), (("leaf", "between", "root"), []), (("leaf",), ["Between"])]
)
def test_the_chain_of_a_public_authority(
    data: Path, public: Signed, has: tuple[str, ...], expected: list[str]
) -> None:
    between = issued("Between", public, is_authority=True)
    leaf = issued("shop.example.com", between)
    by_name = {"leaf": leaf, "between": between, "root": public}
    (data.parent / "chain.pem").write_bytes(b"".join(by_name[name].certificate_pem for name in has))
    (data.parent / "chain.key").write_bytes(leaf.key_pem)
    at = situation(data, served(data.parent / "chain.pem", data.parent / "chain.key"))
    found = list(certificate_findings_at(at))
    assert [(each.kind.name, each.facts["issuer"]) for each in found] == [
        ("certificate-chain", f"CN={name}") for name in expected
    ]


def test_a_chain_that_ends_too_early_names_what_is_missing(data: Path, public: Signed) -> None:
    upper = issued("Upper", public, is_authority=True)
    lower = issued("Lower", upper, is_authority=True)
    leaf = issued("shop.example.com", lower)
    (data.parent / "chain.pem").write_bytes(leaf.certificate_pem + lower.certificate_pem + leaf.key_pem)
    at = situation(data, {"server": {"tls": "files", "certificate": data.parent / "chain.pem"}})
    assert told(certificate_findings_at(at), "certificate-chain").startswith(
        f"The certificate file {data.parent / 'chain.pem'} lacks the certificate of its issuer CN=Upper"
    )


def test_one_that_nobody_else_has_issued_has_no_chain(data: Path, public: Signed) -> None:
    own = new_root("box")
    (data.parent / "own.pem").write_bytes(own.certificate_pem + own.key_pem)
    at = situation(data, {"server": {"tls": "files", "certificate": data.parent / "own.pem"}})
    assert names(certificate_findings_at(at)) == []


def test_a_machine_that_knows_no_authority_tells_of_no_chain(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted_authorities, "BUNDLES", ())
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.setenv(name, str(data.parent / "none"))
    leaf = issued("shop.example.com", new_root("Root"))
    (data.parent / "leaf.pem").write_bytes(leaf.certificate_pem + leaf.key_pem)
    at = situation(data, {"server": {"tls": "files", "certificate": data.parent / "leaf.pem"}})
    assert names(certificate_findings_at(at)) == []


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


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "0.0.0.0:0", "192.168.1.20:0"])
def test_one_that_names_no_host(data: Path, listen: str) -> None:
    """Some programs create such a certificate when they know only the subject."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "box")])
    bare = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + 30 * DAY)
    )
    own = Signed(bare.sign(key, hashes.SHA256()), key)
    (data.parent / "own.pem").write_bytes(own.certificate_pem + own.key_pem)
    server = {"tls": "files", "certificate": data.parent / "own.pem", "listen": listen}
    assert names(certificate_findings_at(situation(data, {"server": server}))) == ["certificate-nameless"]


def test_of_one_with_an_extension_that_cannot_be_read_nothing_is_said(data: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "box")])
    policies = x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.32"), b"\x30\x03\x02\x01")
    odd = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + 30 * DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("box")]), critical=False)
        .add_extension(policies, critical=False)
    )
    own = Signed(odd.sign(key, hashes.SHA256()), key)
    (data.parent / "own.pem").write_bytes(own.certificate_pem + own.key_pem)
    server = {"tls": "files", "certificate": data.parent / "own.pem", "listen": "0.0.0.0:0"}
    assert names(certificate_findings_at(situation(data, {"server": server}))) == []


def no_certificate(certificate: Path, key: Path) -> None:
    certificate.unlink()


def other_key(certificate: Path, key: Path) -> None:
    other = new_certificate(new_authority(BOX, NOW), BOX, NOW)
    key.write_bytes(other.key_pem)


def no_key(certificate: Path, key: Path) -> None:
    key.write_bytes(certificate.read_bytes())


def noise(certificate: Path, key: Path) -> None:
    certificate.write_bytes(b"noise")


def device(certificate: Path, key: Path) -> None:
    certificate.unlink()
    certificate.symlink_to("/dev/null")


@pytest.mark.parametrize(
    ("breaks", "reason"),
    [
        (device, "served.pem cannot be read: it is not a regular file."),
        (no_certificate, "served.pem cannot be read: no such file or directory."),
        (other_key, "does not belong to the certificate in"),
        (no_key, "has no private key."),
        (noise, "has no certificate."),
    ],
)
def test_files_that_cannot_be_served(data: Path, breaks: Callable[[Path, Path], None], reason: str) -> None:
    certificate, key = made(data.parent)
    breaks(certificate, key)
    sentence = told(certificate_findings_at(situation(data, served(certificate, key))), "certificate-unusable")
    assert sentence.startswith("The files of the certificate cannot be used: ")
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
    """A server renews the certificate 30 days before its expiry."""
    certificate_for(data, BOX, NOW)
    at = situation(data, {"server": {"tls": "lan"}}, now=now)
    assert names(certificate_findings_at(at)) == expected


def test_the_lan_before_the_first_start(data: Path) -> None:
    assert names(certificate_findings_at(situation(data, {"server": {"tls": "lan"}}))) == []


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "shop.example.com:0"])
def test_nothing_is_said_of_what_only_openssl_can_read(data: Path, listen: str) -> None:
    """The file is served all the same: browsers receive only the certificate, without OpenSSL's own wrapper."""
    certificate, key = made(data.parent)
    certificate.write_bytes(certificate.read_bytes().replace(b" CERTIFICATE", b" TRUSTED CERTIFICATE"))
    assert names(certificate_findings_at(situation(data, served(certificate, key, listen)))) == []
