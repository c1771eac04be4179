"""The certificate that is served: checked before the start, read again on SIGHUP, renewed in time."""

import asyncio
import logging
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from wmsd.app.settings import Server, SettingsError
from wmsd.base.clock import Clock

LOG = logging.getLogger("wmsd.tls")
LOOK_SECONDS: Final = 3600.0
WARNED_BEFORE: Final = timedelta(days=14)
WARNED_EVERY: Final = timedelta(days=1)
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


class ServedTls:
    """The context lives as long as the server. Open connections keep the certificate that they began with."""

    def __init__(self, server: Server, data: Path, clock: Clock) -> None:
        """Raises SettingsError for files that are wrong, and StorageError when no certificate can be made."""
        self._server = server
        self._data = data
        self._clock = clock
        self._warned_at: datetime | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._load(*self._files())

    def _files(self) -> tuple[Path, Path]:
        return self._server.certificate_files or self._of_lan()

    def _load(self, certificate: Path, key: Path) -> None:
        self.context.load_cert_chain(certificate, key)
        self._warn_of_its_end()

    def reload(self) -> None:
        """Goes on with the certificate that there is when the new one is wrong."""
        try:
            check_files(self._server)
            self._load(*self._files())
            LOG.info("the certificate was read again")
        except Exception as error:
            LOG.error("the certificate was not read again; the one before is served: %s", error)

    async def keep(self) -> None:
        """Renews the certificate in time, and looks whether its file has changed. Ends when it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                self._load(*await asyncio.to_thread(self._files))
            except Exception as error:
                LOG.error("the certificate cannot be renewed; the one before is served: %s", error)

    def _of_lan(self) -> tuple[Path, Path]:
        from wmsd.app.tls.lan import certificate_for  # imported when it is wanted: a start without it is faster
        from wmsd.app.tls.machine_names import machine_names

        served = certificate_for(self._data, machine_names(), self._clock.now())
        return served, served

    def _warn_of_its_end(self) -> None:
        now = self._clock.now()
        if self._warned_at is not None and now < self._warned_at + WARNED_EVERY:
            return
        for sentence in certificate_warnings(self._server, now):
            self._warned_at = now
            LOG.warning(sentence)


def check_files(server: Server) -> None:
    """Raises SettingsError that says what is wrong with the files of the certificate."""
    if server.certificate_files is None:
        return
    certificate, key = server.certificate_files
    for path in (certificate, key):
        try:
            path.read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SettingsError(UNREADABLE.format(path=path, reason=reason)) from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _refuse_password)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise SettingsError(_what_is_wrong(certificate, key, error)) from None


def certificate_warnings(server: Server, now: datetime) -> list[str]:
    """What has to be done soon about the files of the certificate."""
    if server.certificate_files is None:
        return []
    certificate, _ = server.certificate_files
    end = end_of(certificate)
    return [] if end is None or end > now + WARNED_BEFORE else [f"{certificate}: {sentence_of_end(end, now)}"]


def end_of(certificate: Path) -> datetime | None:
    """When the first certificate of the file ends; None when it cannot be read."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError):
        return None


def sentence_of_end(end: datetime, now: datetime) -> str:
    if end <= now:
        return f"the certificate has expired on {end:%Y-%m-%d}: browsers refuse it. Put a new one there."
    return f"the certificate expires on {end:%Y-%m-%d}. Put a new one there, and send the server SIGHUP."


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
