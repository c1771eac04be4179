"""The context that the server has its certificate in."""

import logging
from pathlib import Path

import pytest

from tests.app.tls.test_lan import BOX, NOW
from tests.support.steering import SteeredClock
from wmsd.app.settings import load
from wmsd.app.tls.authority import new_authority, new_certificate
from wmsd.app.tls.lan import AUTHORITY, FOLDER
from wmsd.app.tls.serving import ServedTls


def test_a_certificate_that_cannot_be_judged_is_served(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Such as beside an authority of the LAN that is torn: it is looked at only to tell what may be wrong."""
    signed = new_certificate(new_authority(BOX, NOW), BOX, NOW)
    certificate, key, authority = (
        tmp_path / name for name in ("served.pem", "served.key", f"{FOLDER}/{AUTHORITY}")
    )
    certificate.write_bytes(signed.certificate_pem)
    key.write_bytes(signed.key_pem)
    authority.parent.mkdir()
    authority.write_bytes(b"torn")
    names = {"TLS": "files", "CERTIFICATE": str(certificate), "CERTIFICATE_KEY": str(key)}
    server = load(environment={f"WMSD_SERVER_{name}": value for name, value in names.items()}).server
    caplog.set_level(logging.INFO, "wmsd.tls")
    served = ServedTls(server, tmp_path, SteeredClock())
    served.reload()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO"]
    assert caplog.messages[0].startswith("the certificate is served, but could not be examined: ")
    assert caplog.messages[2] == "the certificate was read again"
