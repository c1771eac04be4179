"""The certificate that the server uses: checked before the start, read again on SIGHUP, and renewed in time."""

import asyncio
import logging
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from wmsd.base.clock import Clock
from wmsd.host.tls.certificate_files import check_files
from wmsd.host.tls.verdict import certificate_findings
from wmsd.settings.sections.server import Server

LOG = logging.getLogger("wmsd.tls")
LOOK_SECONDS: Final = 3600.0
TOLD_EVERY: Final = timedelta(days=1)
NOT_READ: Final = "the certificate was not read again; the server keeps the previous certificate: %s"
NOT_RENEWED: Final = "the certificate cannot be renewed; the server keeps the previous certificate: %s"


class ServedTls:
    """The TLS context, which lives as long as the server. A new certificate applies only to new connections."""

    def __init__(self, server: Server, data: Path, clock: Clock) -> None:
        """Load the certificate. Raise SettingsError if the files are not valid, and StorageError if no certificate
        can be created.
        """
        self._server = server
        self._data = data
        self._clock = clock
        self._told_at: datetime | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._load(*self._files())

    def _files(self) -> tuple[Path, Path]:
        return self._server.certificate_files or self._of_lan()

    def _load(self, certificate: Path, key: Path) -> None:
        self.context.load_cert_chain(certificate, key)
        self._log()

    def reload(self) -> None:
        """Read the certificate again. If the new certificate is not valid, keep the current one."""
        try:
            check_files(self._server)
            self._told_at = None
            self._load(*self._files())
            LOG.info("the certificate was read again")
        except Exception as error:
            LOG.error(NOT_READ, error)

    async def keep(self) -> None:
        """Load the certificate again at intervals, until this task is cancelled. Each time, first renew the
        certificate for the LAN if it ends soon.
        """
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await asyncio.to_thread(check_files, self._server)
                self._load(*await asyncio.to_thread(self._files))
            except Exception as error:
                LOG.error(NOT_RENEWED if self._server.certificate_files is None else NOT_READ, error)

    def _of_lan(self) -> tuple[Path, Path]:
        from wmsd.host.tls.lan_certificate import (
            certificate_for,  # imported only when needed, so that a start without TLS is faster
        )
        from wmsd.host.tls.machine_names import machine_names

        served = certificate_for(self._data, machine_names(), self._clock.now())
        return served, served

    def _log(self) -> None:
        """Log the problems of the certificate, once a day."""
        now = self._clock.now()
        if self._told_at is not None and now < self._told_at + TOLD_EVERY:
            return
        self._told_at = now
        try:
            findings = list(certificate_findings(self._server, self._data, now))
        except Exception as error:  # for example a damaged authority file, which the server does not need
            LOG.warning("the certificate is in use, but could not be examined: %s", error)
            return
        for found in findings:
            LOG.log(logging.ERROR if found.is_wrong else logging.WARNING, "%s %s", found.sentence, found.remedy)
