"""A certificate authority for tests, and the certificates of the test receivers.

The openssl command creates both.
"""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

HOST = "receiver.test"
"""The host name in the valid certificate, which is also valid for 127.0.0.1."""

CERTIFICATES = {
    "good": (f"DNS:{HOST},DNS:*.{HOST},IP:127.0.0.1", 2),
    "expired": (f"DNS:{HOST},IP:127.0.0.1", -1),
    "elsewhere": ("DNS:elsewhere.test", 2),
}
"""The names in each certificate, and the days for which it is valid."""


@dataclass(frozen=True)
class Authority:
    """A certificate authority in a folder. `<kind>.pem` in the folder holds a certificate and its key."""

    folder: Path

    @property
    def ca_file(self) -> Path:
        return self.folder / "authority.pem"

    def pem(self, kind: str = "good") -> Path:
        return self.folder / f"{kind}.pem"

    def server_context(self, kind: str = "good") -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pem(kind))
        return context


def found_authority(folder: Path) -> Authority:
    """Create a certificate authority and its certificates in an empty folder."""
    key = folder / "key.pem"
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
    for kind in ("authority", "stranger"):
        _found(folder / f"{kind}.pem", key, kind)
    for kind, (names, days) in CERTIFICATES.items():
        _issue(folder, kind, names, days)
    _append_key(folder / "stranger.pem", key)
    return Authority(folder)


def _found(certificate: Path, key: Path, name: str) -> None:
    uses = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,digitalSignature")
    names = f"subjectAltName=DNS:{HOST},IP:127.0.0.1"
    added = [word for use in (*uses, names) for word in ("-addext", use)]
    subject = ("-subj", f"/CN={name} of tests")
    openssl("req", "-x509", "-new", "-key", key, "-days", "2", *subject, *added, "-out", certificate)


def _issue(folder: Path, kind: str, names: str, days: int) -> None:
    key, request, extensions = folder / "key.pem", folder / f"{kind}.csr", folder / f"{kind}.txt"
    extensions.write_text(f"subjectAltName={names}\n")
    openssl("req", "-new", "-key", key, "-subj", f"/CN={kind}", "-out", request)
    by = ("-CA", folder / "authority.pem", "-CAkey", key)
    openssl(
        *("x509", "-req", "-in", request, *by, "-days", str(days)),
        *("-extfile", extensions, "-out", folder / f"{kind}.pem"),
    )
    _append_key(folder / f"{kind}.pem", key)


def _append_key(certificate: Path, key: Path) -> None:
    certificate.write_text(certificate.read_text() + key.read_text())


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)
