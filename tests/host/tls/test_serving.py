"""Tests of the TLS context that holds the server's certificate."""

import asyncio
import logging
import os
import threading
from pathlib import Path

import pytest

from tests.host.tls.test_lan import BOX, NOW
from tests.support.read_settings import load_settings
from tests.support.steering import SteeredClock
from wmsd.host.tls import served_certificate
from wmsd.host.tls.authority import new_authority, new_certificate
from wmsd.host.tls.lan_certificate import AUTHORITY, FOLDER
from wmsd.host.tls.served_certificate import ServedTls


def served_in(folder: Path) -> ServedTls:
    signed = new_certificate(new_authority(BOX, NOW), BOX, NOW)
    certificate, key = folder / "served.pem", folder / "served.key"
    certificate.write_bytes(signed.certificate_pem)
    key.write_bytes(signed.key_pem)
    names = {"TLS": "files", "CERTIFICATE": str(certificate), "CERTIFICATE_KEY": str(key)}
    server = load_settings(environment={f"WMSD_SERVER_{name}": value for name, value in names.items()}).server
    return ServedTls(server, folder, SteeredClock())


def test_a_certificate_that_cannot_be_judged_is_served(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A certificate that cannot be checked is served, such as next to a damaged LAN authority.

    The authority is read only to report possible errors.
    """
    authority = tmp_path / FOLDER / AUTHORITY
    authority.parent.mkdir()
    authority.write_bytes(b"torn")
    caplog.set_level(logging.INFO, "wmsd.tls")
    served = served_in(tmp_path)
    served.reload()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO"]
    assert caplog.messages[0].startswith("the certificate is in use, but could not be examined: ")
    assert caplog.messages[2] == "the certificate was read again"


async def test_a_file_that_became_a_fifo_keeps_no_server_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = served_in(tmp_path)
    fifo = tmp_path / "served.pem"
    fifo.unlink()
    os.mkfifo(fifo)
    said: list[str] = []
    is_said = asyncio.Event()

    def note(sentence: str, error: Exception) -> None:
        said.append(sentence % error)
        is_said.set()

    monkeypatch.setattr(served_certificate, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(served_certificate.LOG, "error", note)
    release = threading.Timer(5.0, lambda: os.close(os.open(fifo, os.O_RDWR | os.O_NONBLOCK)))
    release.start()  # otherwise the reader of the FIFO would wait for ever
    keeping = asyncio.create_task(served.keep())
    await asyncio.wait_for(is_said.wait(), 4.0)
    keeping.cancel()
    release.cancel()
    told = (
        f"the certificate was not read again; the server keeps the previous certificate: {fifo} cannot be read: "
    )
    assert said[0] == told + "it is not a regular file."
