"""An authority of the installation, and the certificates that it signs for this machine (RFC 5280).

The authority may certify only private addresses and local names (name constraints, section 4.2.1.10). With its
stolen key, an attacker can imitate machines of the LAN, but no sites on the internet.
"""

import ipaddress
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from wmsd.base.dataclass import dataclass
from wmsd.host.tls.machine_names import MachineNames, is_in_networks

AUTHORITY_LIFETIME: Final = timedelta(days=3650)
CERTIFICATE_LIFETIME: Final = timedelta(days=397)
"""The lifetime of a certificate. Browsers accept at most 825 days if people have installed the authority."""
AUTHORITY_NOT_BEFORE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The authority is valid from this fixed date on. If the clock is set back, an installed authority therefore stays
valid.
"""
ALLOWANCE: Final = timedelta(days=1)
"""A certificate begins to be valid this long before its creation, because the clocks of browsers may be behind."""
LOCAL_NAMES: Final = ("localhost", "local", "lan", "home.arpa", "internal", "intranet")
LOCAL_NETWORKS: Final = tuple(
    ipaddress.ip_network(each)
    for each in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10")
) + tuple(ipaddress.ip_network(each) for each in ("::1/128", "fc00::/7", "fe80::/10"))


@dataclass(frozen=True, slots=True)
class Signed:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def new_authority(machine: MachineNames, now: datetime) -> Signed:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "wmsd"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"wmsd on {machine.names[-1]}"[:64]),
        ]
    )
    names = dict.fromkeys((*LOCAL_NAMES, *machine.names))
    permitted: list[x509.GeneralName] = [*map(x509.DNSName, names), *map(x509.IPAddress, LOCAL_NETWORKS)]
    certificate = (
        _builder(key, min(AUTHORITY_NOT_BEFORE, now), now + AUTHORITY_LIFETIME)
        .subject_name(name)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Signed(certificate, key)


def new_certificate(authority: Signed, machine: MachineNames, now: datetime) -> Signed:
    """Return a new certificate for the names and addresses of the machine. Leave out names and addresses that the
    authority may not certify.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    names = alternative_names(authority.certificate, machine)
    certificate = (
        _builder(key, now - ALLOWANCE, min(now + CERTIFICATE_LIFETIME, authority.certificate.not_valid_after_utc))
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, machine.names[-1][:64])]))
        .issuer_name(authority.certificate.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False
        )
        .sign(authority.key, hashes.SHA256())
    )
    return Signed(certificate, key)


def alternative_names(authority: x509.Certificate, machine: MachineNames) -> list[x509.GeneralName]:
    """Return the machine's names and addresses that a certificate of this authority may contain."""
    constraints = authority.extensions.get_extension_for_class(x509.NameConstraints).value
    permitted = constraints.permitted_subtrees or []
    domains = [each.value for each in permitted if isinstance(each, x509.DNSName)]
    return [
        *(
            x509.DNSName(name)
            for name in machine.names
            if any(f".{name}".endswith(f".{each}") for each in domains)
        ),
        *(x509.IPAddress(each) for each in machine.addresses if is_in_networks(each, LOCAL_NETWORKS)),
    ]


def certificate_fingerprint(certificate: x509.Certificate) -> str:
    """Return the SHA-256 fingerprint, in the form that operating systems display."""
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def _builder(
    key: ec.EllipticCurvePrivateKey, not_before: datetime, not_after: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before)
        .not_valid_after(not_after)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
