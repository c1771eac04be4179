"""The authority and the certificate of an installation, in `data/tls/`.

wmsd creates a new certificate when there is none, when it ends soon, or when the machine's names or addresses
change. wmsd creates a new authority only when there is none or when the authority ends soon, because people must
install each new authority. Backups contain no authority and no certificate.
"""

import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from wmsd.base.machine.private_files import new_private_folder, replace_private
from wmsd.db.engine.failures import StorageError
from wmsd.host.tls.authority import Signed, alternative_names, new_authority, new_certificate
from wmsd.host.tls.machine_names import MachineNames

LOG = logging.getLogger("wmsd.tls")
FOLDER: Final = "tls"
AUTHORITY: Final = "authority.pem"
AUTHORITY_KEY: Final = "authority.key"
SERVED: Final = "served.pem"
"""The certificate that the server uses, and its key."""
RENEWED_BEFORE: Final = timedelta(days=30)


def certificate_for(data: Path, machine: MachineNames, now: datetime) -> Path:
    """Return a file with a certificate for this machine and its key. The certificate is valid for at least 30
    days. Raise StorageError if the certificate cannot be created.
    """
    folder = data / FOLDER
    try:
        if not folder.is_dir():
            new_private_folder(folder)
        authority = _authority(folder, machine, now)
        served = folder / SERVED
        if why := _why_renew(_read(served), authority, machine, now):
            made = new_certificate(authority, machine, now)
            replace_private(served, made.certificate_pem + made.key_pem)
            shown = ", ".join(str(each.value) for each in alternative_names(authority.certificate, machine))
            until = f"{made.certificate.not_valid_after_utc:%Y-%m-%d}"
            LOG.info(
                "created a new certificate, because %s: the new certificate is for %s, and valid until %s",
                why,
                shown,
                until,
            )
    except OSError as error:
        raise StorageError(f"{folder}: the certificate cannot be created: {error.strerror or error}.") from None
    return served


def authority_of(data: Path) -> x509.Certificate | None:
    """Return the certificate of the authority, which people install, or None if there is none."""
    return _certificate(data / FOLDER / AUTHORITY)


def _authority(folder: Path, machine: MachineNames, now: datetime) -> Signed:
    found = _read(folder / AUTHORITY, folder / AUTHORITY_KEY)
    if found is not None and found.certificate.not_valid_after_utc > now + RENEWED_BEFORE:
        return found
    made = new_authority(machine, now)
    replace_private(folder / AUTHORITY_KEY, made.key_pem)
    replace_private(folder / AUTHORITY, made.certificate_pem)
    LOG.warning(
        "created a new certificate authority: everyone who uses https here must install it (wmsd tls show)"
    )
    return made


def _why_renew(served: Signed | None, authority: Signed, machine: MachineNames, now: datetime) -> str:
    if served is None:
        return "there was no certificate"
    certificate = served.certificate
    if certificate.not_valid_after_utc < now + RENEWED_BEFORE:
        return "the old certificate expires soon"
    if certificate.not_valid_before_utc > now:
        return "the old certificate is not valid yet"
    try:
        certificate.verify_directly_issued_by(authority.certificate)
    except Exception:  # the type of the exception depends on the error
        return "the old certificate is from another authority"
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    if set(names) != set(alternative_names(authority.certificate, machine)):
        return "the machine's names or addresses have changed"
    return ""


def _read(path: Path, key: Path | None = None) -> Signed | None:
    """Return the certificate in the file `path`, with its key from the file `key`. If `key` is None, the key is in
    `path` too.

    Return None if a file is missing or cut off, or if certificate and key do not match. The caller then creates a
    new certificate.
    """
    certificate = _certificate(path)
    with suppress(FileNotFoundError, ValueError, TypeError):
        secret = serialization.load_pem_private_key((key or path).read_bytes(), None)
        is_its_own = certificate is not None and secret.public_key() == certificate.public_key()
        if certificate is not None and is_its_own and isinstance(secret, ec.EllipticCurvePrivateKey):
            return Signed(certificate, secret)
    return None


def _certificate(path: Path) -> x509.Certificate | None:
    with suppress(FileNotFoundError, ValueError):
        return x509.load_pem_x509_certificate(path.read_bytes())
    return None


def names_of(certificate: x509.Certificate) -> Iterator[str]:
    """Yield the names and addresses in the certificate."""
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    yield from (str(each.value) for each in names)


def served_of(data: Path) -> x509.Certificate | None:
    """Return the certificate that the server uses, or None if there is none."""
    return _certificate(data / FOLDER / SERVED)
