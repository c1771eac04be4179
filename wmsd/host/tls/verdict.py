"""Finds problems of the certificate, for the check of the settings, the server start, the doctor and alerts."""

import ipaddress
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wmsd.contract.findings import REASONS, FindingKind, Found
from wmsd.host.tls.certificate_files import FAULTS, check_files
from wmsd.http_client.trusted_authorities import dialling_context, knows_authorities
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sections.server import Server

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

DAY: Final = "%Y-%m-%d"
WARNED_BEFORE: Final = timedelta(days=14)
RENEWAL_ALLOWANCE: Final = timedelta(days=3)
"""How late a renewal may be, for example because a server was off over a weekend."""
AUTHORITY_WARNED_BEFORE: Final = timedelta(days=120)
ANYWHERE: Final = ("0.0.0.0", "::", "127.0.0.1", "::1", "localhost")  # noqa: S104  (compared, not bound)
"""Values of server.listen that do not say by which name people reach this machine."""
ISSUER_UNKNOWN: Final = (2, 20, 21)
"""The error codes that mean that the issuer of a certificate is unknown: X509_verify_cert_error_string(3)."""
FLIGHTS: Final = 4
"""The maximum number of steps of each side in a TLS handshake. After these steps, the handshake is finished or
refused.
"""

READ_AGAIN: Final = (
    "Replace the file with a new certificate, and make the server read it: systemctl reload wmsd, or kill "
    "-HUP with the process number that wmsd status shows."
)
FOR_ITS_NAME: Final = (
    "Get a certificate for the name that users type, or use tls = lan, which creates a certificate "
    "for this machine."
)

UNUSABLE: Final = FindingKind(
    "certificate-unusable",
    "wrong",
    "The files of the certificate cannot be used: {reason}",
    "Correct the files of the certificate, and make sure that the user that runs wmsd can read them. Then "
    "run wmsd config check. See /docs/tls.",
    words=(*FAULTS, *REASONS),
)
EXPIRED: Final = FindingKind(
    "certificate-expired",
    "wrong",
    "The certificate {file} expired on {day}: browsers and programs refuse it.",
    READ_AGAIN,
)
NOT_YET: Final = FindingKind(
    "certificate-early",
    "wrong",
    "The certificate {file} is valid only from {day}: browsers and programs refuse it until then.",
    "Check whether the clock of this machine is right. If it is right, replace the certificate with one that "
    "is valid now.",
)
ENDS: Final = FindingKind(
    "certificate-ends",
    "warning",
    "The certificate {file} expires on {day}: then browsers and programs refuse it.",
    READ_AGAIN,
)
OTHER_NAMES: Final = FindingKind(
    "certificate-names",
    "warning",
    "The certificate {file} is for {names}, but wmsd listens on {host}.",
    FOR_ITS_NAME,
)
NAMELESS: Final = FindingKind(
    "certificate-nameless",
    "wrong",
    "The certificate {file} names no host (it has no subjectAltName): browsers and programs refuse it.",
    FOR_ITS_NAME,
)
NOT_RENEWED: Final = FindingKind(
    "certificate-not-renewed",
    "wrong",
    "The LAN certificate {file} of wmsd expires on {day}. wmsd should have renewed it 30 days earlier, but did "
    "not.",
    "Restart the server, which then renews the certificate. If the renewal fails, the server's log says why.",
)
AUTHORITY_ENDS: Final = FindingKind(
    "authority-ends",
    "warning",
    "The certificate authority {file} expires on {day}. 30 days earlier, wmsd creates a new authority, and "
    "browsers refuse the site until users install the new authority.",
    (
        "Ask all users to install the new certificate authority on one day, soon after wmsd creates it. The "
        "page /trust shows users how to install it."
    ),
)
INCOMPLETE: Final = FindingKind(
    "certificate-chain",
    "warning",
    "The certificate file {file} lacks the certificate of its issuer {issuer}, which is unknown to this "
    "machine. Browsers and programs that do not know this issuer refuse the certificate.",
    "Add the issuer's intermediate certificates to the same file, below your certificate (issuers often call "
    "this fullchain). If {issuer} is your own authority, also install it on this machine.",
)
KINDS: Final = (UNUSABLE, EXPIRED, NOT_YET, ENDS, INCOMPLETE, OTHER_NAMES, NAMELESS, NOT_RENEWED, AUTHORITY_ENDS)


def certificate_findings(server: Server, data: Path, now: datetime) -> Found:
    """Yield all problems of the certificate. This takes 20 ms or more, because it reads the authorities that this
    machine trusts.
    """
    found = list(judged_by_time(server, data, now))
    yield from found
    if server.certificate_files is not None and not any(each.kind is UNUSABLE for each in found):
        yield from _issuers(*server.certificate_files, data)
        yield from _names(server.certificate_files[0], server.listen)


def judged_by_time(server: Server, data: Path, now: datetime) -> Found:
    """Yield the problems that can appear while the server runs, such as a certificate that has expired."""
    if server.tls == "lan":
        yield from _of_lan(data, now)
    if server.certificate_files is None:
        return
    try:
        check_files(server)
    except SettingsError as error:
        yield UNUSABLE.of(reason=error)
        return
    path = server.certificate_files[0]
    chain = _chain(path)
    if not chain:
        return
    certificate = chain[0]
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if end <= now:
        yield EXPIRED.of(path, day=f"{end:{DAY}}")
    elif begin > now:
        yield NOT_YET.of(path, day=f"{begin:{DAY}}")
    elif end <= now + WARNED_BEFORE:
        yield ENDS.of(path, day=f"{end:{DAY}}")


def _of_lan(data: Path, now: datetime) -> Found:
    from wmsd.host.tls import lan_certificate  # imported here, because most installations do not need it

    folder, served, authority = (
        data / lan_certificate.FOLDER,
        lan_certificate.served_of(data),
        lan_certificate.authority_of(data),
    )
    if (
        served is not None
        and served.not_valid_after_utc <= now + lan_certificate.RENEWED_BEFORE - RENEWAL_ALLOWANCE
    ):
        yield NOT_RENEWED.of(folder / lan_certificate.SERVED, day=f"{served.not_valid_after_utc:{DAY}}")
    if authority is not None and authority.not_valid_after_utc <= now + AUTHORITY_WARNED_BEFORE:
        yield AUTHORITY_ENDS.of(folder / lan_certificate.AUTHORITY, day=f"{authority.not_valid_after_utc:{DAY}}")


def _chain(path: Path) -> "list[Certificate]":
    """Return the certificates in the file. Return an empty list if the package cryptography cannot read the file.

    The server may still be able to use the file, because OpenSSL accepts more files.
    """
    from cryptography import x509  # imported here, because most installations have no certificate files

    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except ValueError:
        return []


def _issuers(path: Path, key: Path, data: Path) -> Found:
    chain = _chain(path)
    if not chain or not _is_issuer_unknown(path, key, data):
        return
    certificate, *others = chain
    while above := next((each for each in others if each.subject == certificate.issuer), None):
        others.remove(above)
        certificate = above
    yield INCOMPLETE.of(path, issuer=certificate.issuer.rfc4514_string())


def _is_issuer_unknown(path: Path, key: Path, data: Path) -> bool:
    """Return True if a client could not find an issuer of the certificate. This client trusts the authorities of
    this machine and the authority of the installation. The function does a TLS handshake in memory.
    """
    from wmsd.host.tls.lan_certificate import AUTHORITY, FOLDER

    trusting = dialling_context("")
    if not knows_authorities(trusting):
        return False
    trusting.check_hostname = False
    own = data / FOLDER / AUTHORITY
    if own.exists():
        trusting.load_verify_locations(own)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(path, key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server)
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server) * FLIGHTS:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLCertVerificationError as error:
            return error.verify_code in ISSUER_UNKNOWN
    return False


def _names(path: Path, listen: str) -> Found:
    from wmsd.host.tls.lan_certificate import names_of

    chain, host = _chain(path), listen.rpartition(":")[0].strip("[]")
    if not chain:
        return
    from cryptography.x509 import ExtensionNotFound  # imported here: most installations have no files

    try:
        names = list(names_of(chain[0]))
    except ExtensionNotFound:
        names = []
    except ValueError:  # another extension of the certificate cannot be read
        return
    if not names:
        yield NAMELESS.of(path)
    elif host not in ANYWHERE and not _covers(names, host):
        yield OTHER_NAMES.of(path, names=", ".join(names), host=host)


def _covers(names: list[str], host: str) -> bool:
    try:
        return str(ipaddress.ip_address(host)) in names
    except ValueError:
        parent = host.partition(".")[2]
        return host.lower() in map(str.lower, names) or f"*.{parent}".lower() in map(str.lower, names)
