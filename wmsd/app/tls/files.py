"""Whether the files of the certificate can be served."""

import ssl
from pathlib import Path
from typing import Final

from wmsd.app.settings import Server, SettingsError
from wmsd.base.regular_files import check_regular

UNREADABLE: Final = "{path} cannot be read: {reason}."
OTHER_KEY: Final = "The private key in {key} does not belong to the certificate in {certificate}."
KEY_WITH_PASSWORD: Final = (
    "The private key in {key} has a password, which nobody types at a start: remove it (openssl pkey)."
)
NO_KEY: Final = "{key} has no private key. Name its file in server.certificate_key, with tls = files."
NO_CERTIFICATE: Final = "{certificate} has no certificate."
NO_PEM: Final = "server.tls: {certificate} is not a PEM file with a certificate and its key: {reason}."
FAULTS: Final = (UNREADABLE, OTHER_KEY, KEY_WITH_PASSWORD, NO_KEY, NO_CERTIFICATE, NO_PEM)
"""What can be wrong with the files of the certificate."""


def check_files(server: Server) -> None:
    """Raises SettingsError that says what is wrong with the files of the certificate."""
    if server.certificate_files is None:
        return
    certificate, key = server.certificate_files
    for path in (certificate, key):
        try:
            check_regular(path)
            path.read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SettingsError(UNREADABLE.format(path=path, reason=reason)) from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _refuse_password)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise SettingsError(_what_is_wrong(certificate, key, error)) from None


def _refuse_password() -> str:
    raise ValueError("the key has a password")


def _what_is_wrong(certificate: Path, key: Path, error: Exception) -> str:
    if "key values mismatch" in str(error).lower() or "KEY_VALUES_MISMATCH" in str(error):
        return OTHER_KEY.format(key=key, certificate=certificate)
    if isinstance(error, ValueError):
        return KEY_WITH_PASSWORD.format(key=key)
    if b"PRIVATE KEY" not in key.read_bytes():
        return NO_KEY.format(key=key)
    if b"BEGIN CERTIFICATE" not in certificate.read_bytes():
        return NO_CERTIFICATE.format(certificate=certificate)
    return NO_PEM.format(certificate=certificate, reason=error)
