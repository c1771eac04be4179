"""Checks whether the server can use the files of the certificate."""

import ssl
from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import check_regular, reason_of
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sections.server import Server

UNREADABLE: Final = "{path} cannot be read: {reason}."
OTHER_KEY: Final = "The private key in {key} does not belong to the certificate in {certificate}."
KEY_WITH_PASSWORD: Final = (
    "The private key in {key} has a password, which wmsd cannot enter when it starts: remove the "
    "password (openssl pkey)."
)
NO_KEY: Final = (
    "{key} has no private key. Set tls = files, and name the file of the private key in server.certificate_key."
)
NO_KEY_NAMED: Final = "{key}, named in server.certificate_key, has no private key."
EXCHANGED: Final = (
    "{certificate} has the private key, and {key} has the certificate: exchange server.certificate "
    "and server.certificate_key."
)
DER: Final = (
    "{file} is in DER, but must be in PEM. Convert it: openssl {program} -inform der -in {file} -out {new}"
)
ARCHIVE: Final = (
    "{file} is a PKCS #12 archive, but must be in PEM. Convert it: openssl pkcs12 -in {file} -nodes -out {new}"
)
NO_CERTIFICATE: Final = "{certificate} has no certificate."
CUT_SHORT: Final = "{file} is incomplete: an END line is missing. Copy the whole file again."
NO_PEM: Final = "{certificate} is not a PEM file with a certificate and its key: {reason}."
FAULTS: Final = (
    *(UNREADABLE, OTHER_KEY, KEY_WITH_PASSWORD, NO_KEY, NO_KEY_NAMED, EXCHANGED, DER, ARCHIVE),
    *(NO_CERTIFICATE, CUT_SHORT, NO_PEM),
)
"""The possible problems of the certificate's files."""
SEQUENCE: Final = 0x30
LEAST_DER: Final = 16
VERSION_OF_ARCHIVES: Final = b"\x02\x01\x03"
"""The version number at the start of a PKCS #12 archive (RFC 7292). A key also begins with a version number, but a
smaller one.
"""


def check_files(server: Server) -> None:
    """Raise SettingsError with the problem if the files of the certificate cannot be used."""
    if server.certificate_files is None:
        return
    certificate, key = server.certificate_files
    for path in (certificate, key):
        try:
            check_regular(path)
            path.read_bytes()
        except OSError as error:
            reason = reason_of(error)
            raise SettingsError(UNREADABLE.format(path=path, reason=reason)) from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _refuse_password)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise SettingsError(_what_is_wrong(certificate, key, error)) from None


def has_key(path: Path) -> bool:
    """Return True if the file has a private key. Raise OSError if the file cannot be read."""
    check_regular(path)
    return b"PRIVATE KEY" in path.read_bytes()


def _has_certificate(path: Path) -> bool:
    return b"BEGIN CERTIFICATE" in path.read_bytes()


def form_of(content: bytes) -> str:
    """Return the openssl command that reads this DER content. It is `x509` for a certificate, `pkey` for a key,
    `pkcs12` for an archive, and "" for anything else.
    """
    if len(content) < LEAST_DER or content[0] != SEQUENCE:
        return ""
    inner = content[2 + (content[1] & 0x7F if content[1] & 0x80 else 0) :]  # skips the bytes of the length
    if inner[:1] == bytes([SEQUENCE]):
        return "x509"
    return "pkcs12" if inner[:3] == VERSION_OF_ARCHIVES else "pkey" if inner[:1] == VERSION_OF_ARCHIVES[:1] else ""


def _refuse_password() -> str:
    raise ValueError("the key has a password")


def _what_is_wrong(certificate: Path, key: Path, error: Exception) -> str:
    if "key values mismatch" in str(error).lower() or "KEY_VALUES_MISMATCH" in str(error):
        return OTHER_KEY.format(key=key, certificate=certificate)
    if isinstance(error, ValueError):
        return KEY_WITH_PASSWORD.format(key=key)
    for path in (certificate, key):
        content, new = path.read_bytes(), f"{path}.pem"
        if content.count(b"-----BEGIN ") > content.count(b"-----END "):
            return CUT_SHORT.format(file=path)
        form = form_of(content)
        if form == "pkcs12":
            return ARCHIVE.format(file=path, new=new)
        if form:
            return DER.format(file=path, program=form, new=new)
    if has_key(certificate) and not _has_certificate(certificate) and not has_key(key) and _has_certificate(key):
        return EXCHANGED.format(certificate=certificate, key=key)
    if not has_key(key) and key != certificate:
        return NO_KEY_NAMED.format(key=key)
    if not has_key(key):
        return NO_KEY.format(key=key)
    if not _has_certificate(certificate):
        return NO_CERTIFICATE.format(certificate=certificate)
    return NO_PEM.format(certificate=certificate, reason=error)
