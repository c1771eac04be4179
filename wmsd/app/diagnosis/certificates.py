"""Whether the certificate that is served is there, is good for now, and is for the address where people come."""

import ipaddress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wmsd.app.diagnosis.finding import REASONS, FindingKind, Found
from wmsd.app.diagnosis.situation import Situation
from wmsd.app.settings import SettingsError
from wmsd.app.tls.serving import FAULTS, WARNED_BEFORE, check_files

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

DAY: Final = "%Y-%m-%d"
RENEWAL_ALLOWANCE: Final = timedelta(days=3)
"""So late may a renewal be, of a server that was off over a weekend."""
AUTHORITY_WARNED_BEFORE: Final = timedelta(days=120)
ANYWHERE: Final = ("0.0.0.0", "::", "127.0.0.1", "::1", "localhost")  # noqa: S104  (compared, not bound)
"""Addresses that say nothing about the name by which people come."""
NO_NAME: Final = "no name"

UNUSABLE: Final = FindingKind(
    "certificate-unusable",
    "wrong",
    "The server cannot serve https: {reason}",
    "Put the certificate and its private key there, readable for the user that runs wmsd, and check them with "
    "wmsd config check. See /docs/tls.",
    words=(*FAULTS, *REASONS),
)
EXPIRED: Final = FindingKind(
    "certificate-expired",
    "wrong",
    "The certificate {file} has expired on {day}: browsers and programs refuse it.",
    "Put a new one there, and send the server SIGHUP.",
)
NOT_YET: Final = FindingKind(
    "certificate-early",
    "wrong",
    "The certificate {file} is good from {day} on: browsers and programs refuse it until then.",
    "Look whether the clock of this machine is right. Otherwise put another certificate there.",
)
ENDS: Final = FindingKind(
    "certificate-ends",
    "warning",
    "The certificate {file} expires on {day}, in {days} days.",
    "Put a new one there, and send the server SIGHUP.",
)
OTHER_NAMES: Final = FindingKind(
    "certificate-names",
    "warning",
    "The certificate {file} is for {names}, and wmsd listens on {host}.",
    "Get a certificate for the name by which people come, or use tls = lan, which makes one for this machine.",
    words=(NO_NAME,),
)
NOT_RENEWED: Final = FindingKind(
    "certificate-not-renewed",
    "wrong",
    "The certificate {file} that wmsd makes for the LAN ends on {day}, and was not renewed 30 days before.",
    "Start the server again, which renews it. If it does not, its log says why.",
)
AUTHORITY_ENDS: Final = FindingKind(
    "authority-ends",
    "warning",
    "The authority {file} ends on {day}. wmsd makes a new one 30 days before, and browsers refuse that until it "
    "is installed.",
    "Choose a day on which everybody installs the new one: wmsd tls show says how.",
)
KINDS: Final = (UNUSABLE, EXPIRED, NOT_YET, ENDS, OTHER_NAMES, NOT_RENEWED, AUTHORITY_ENDS)


def look(at: Situation) -> Found:
    server = at.settings.server
    if server.tls == "lan":
        yield from _of_lan(at)
    if server.certificate_files is None:
        return
    try:
        check_files(server)
    except SettingsError as error:
        yield UNUSABLE.of(reason=error)
        return
    yield from _of(server.certificate_files[0], at)


def _of_lan(at: Situation) -> Found:
    from wmsd.app.tls import lan  # imported here, as below

    folder, served, authority = at.data / lan.FOLDER, lan.served_of(at.data), lan.authority_of(at.data)
    if served is not None and served.not_valid_after_utc <= at.now + lan.RENEWED_BEFORE - RENEWAL_ALLOWANCE:
        yield NOT_RENEWED.of(folder / lan.SERVED, day=f"{served.not_valid_after_utc:{DAY}}")
    if authority is not None and authority.not_valid_after_utc <= at.now + AUTHORITY_WARNED_BEFORE:
        yield AUTHORITY_ENDS.of(folder / lan.AUTHORITY, day=f"{authority.not_valid_after_utc:{DAY}}")


def _of(path: Path, at: Situation) -> Found:
    from cryptography import x509  # imported here: most have no files

    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if end <= at.now:
        yield EXPIRED.of(path, day=f"{end:{DAY}}")
    elif begin > at.now:
        yield NOT_YET.of(path, day=f"{begin:{DAY}}")
    elif end <= at.now + WARNED_BEFORE:
        yield ENDS.of(path, day=f"{end:{DAY}}", days=(end - at.now) // timedelta(days=1))
    host = at.settings.server.listen.rpartition(":")[0].strip("[]")
    names = _names(certificate)
    if host not in ANYWHERE and not _covers(names, host):
        yield OTHER_NAMES.of(path, names=", ".join(names) or NO_NAME, host=host)


def _names(certificate: "Certificate") -> list[str]:
    from wmsd.app.tls.lan import names_of

    try:
        return list(names_of(certificate))
    except Exception:  # what it raises is cryptography's, which most do not import
        return []


def _covers(names: list[str], host: str) -> bool:
    try:
        return str(ipaddress.ip_address(host)) in names
    except ValueError:
        parent = host.partition(".")[2]
        return host.lower() in map(str.lower, names) or f"*.{parent}".lower() in map(str.lower, names)
