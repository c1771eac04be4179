"""Tests of `[server] tls`: one PEM file, and the address is https."""

import hashlib
import json
import re
import signal
import socket
import ssl
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from tests.host.tls.test_lan import BOX, NOW
from tests.support.command import Home, first_day
from wmsd.host.tls.authority import Signed, new_authority, new_certificate

CERTIFICATE = Path(__file__).parents[2] / "support" / "loopback.pem"
"""A certificate for 127.0.0.1 that only these tests trust, and its key."""


def test_it_serves_https(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE)}) as server:
        assert server.address.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        with urllib.request.urlopen(f"{server.address}/api/health", context=trusting, timeout=10) as answer:
            assert json.load(answer)["status"] == "ok"
            assert answer.headers["Strict-Transport-Security"] is None, "other services of the host may be plain"


def test_browsers_use_only_https_where_the_settings_say_so(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE), "WMSD_SERVER_HSTS": "true"}) as server:
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        with urllib.request.urlopen(f"{server.address}/api/health", context=trusting, timeout=10) as answer:
            assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_handshakes_that_never_end_hold_up_nobody(home: Home) -> None:
    settings = {"WMSD_SERVER_TLS": str(CERTIFICATE), "WMSD_SERVER_CONNECTIONS_PER_ADDRESS": "20"}
    with home.serving(env=settings) as server:
        port = int(server.address.rpartition(":")[2])
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(80)]
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        with urllib.request.urlopen(f"{server.address}/api/health", context=trusting, timeout=10) as answer:
            assert answer.status == 200
        files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        assert files < 80, "connections count from their first moment, not from the end of the handshake"
        for each in silent:
            each.close()
        assert server.stop() == 0


def test_a_large_answer_and_a_large_body_come_through_whole(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE)}) as server:
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        for _ in range(3):
            with urllib.request.urlopen(f"{server.address}/openapi.json", context=trusting, timeout=10) as answer:
                assert json.load(answer)["openapi"].startswith("3.1")
        body = json.dumps({"email": "x" * 15_000}).encode()
        request = urllib.request.Request(
            f"{server.address}/api/auth/token", body, {"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(request, context=trusting, timeout=10)
        assert raised.value.code == 422
        raised.value.close()


def test_plain_http_is_told_that_the_port_speaks_https(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE)}) as server:
        port = int(server.address.rpartition(":")[2])
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/docs", context=trusting, timeout=10) as followed:
            assert (followed.status, followed.url) == (200, f"{server.address}/docs")
        for sent in (
            b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000,
            b"GET / HTTP/1.1\r\n\r\n",
            b"\0\0\0",
        ):
            told = _told(port, sent)
            assert told.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert told.endswith(b"Begin the address with https://.\n")
        with socket.create_connection(("127.0.0.1", port), timeout=10):
            pass  # it closes the connection without sending anything
        with urllib.request.urlopen(f"{server.address}/api/health", context=trusting, timeout=10) as answer:
            assert answer.status == 200
        assert server.stop() == 0
        assert "Traceback" not in server.log


def _told(port: int, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(sent)
        plain.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: plain.recv(65_536), b""))


def test_links_have_the_address_of_the_running_server(home: Home) -> None:
    """Links have the address of the running server, although its flags are not in the settings that the command
    reads.
    """
    with home.serving("--tls", "lan") as server:
        link = home.ok("user", "first-admin-link").out
        assert link.startswith(f"{server.address}/first-admin?code=")
        assert server.address.startswith("https://127.0.0.1:")
        assert server.stop() == 0
    done = home.ok("user", "first-admin-link")
    assert done.out.startswith("http://127.0.0.1:8480/first-admin?code=")
    assert "No server is running." in done.err


def test_the_lan_trusts_an_authority_that_the_server_makes(home: Home) -> None:
    with home.serving("--tls", "lan") as server:
        port = server.address.rpartition(":")[2]
        assert server.address == f"https://127.0.0.1:{port}"
        shown = home.ok("tls", "show", "--json").json
        home.ok("tls", "export", "authority.pem")
        trusting = ssl.create_default_context(cafile=str(home.folder / "authority.pem"))
        for host in ("127.0.0.1", "localhost"):
            with urllib.request.urlopen(f"https://{host}:{port}/trust", context=trusting, timeout=10) as answer:
                assert shown["fingerprint"] in answer.read().decode()
                assert answer.headers["Strict-Transport-Security"] is None, "other ports of the machine are plain"
        download = f"{server.address}/trust/wmsd-authority.crt"
        with urllib.request.urlopen(download, context=trusting, timeout=10) as answer:
            digest = hashlib.sha256(answer.read()).hexdigest().upper()
        assert digest == shown["fingerprint"].replace(":", "")
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(f"{server.address}/api/health", timeout=10)
        assert server.stop() == 0
    with home.serving("--tls", "lan") as again:
        assert home.ok("tls", "show", "--json").json == shown
        assert again.stop() == 0
    home.ok("doctor")


def test_without_an_authority_there_is_nothing_to_trust(home: Home) -> None:
    first_day(home)
    assert "There is no certificate authority yet." in home.run("tls", "show").err
    assert "There is no certificate authority yet." in home.run("tls", "export", "a.pem").err
    with home.serving() as server, pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server.address}/trust", timeout=10)


def test_a_certificate_is_read_again_without_dropping_a_connection(home: Home) -> None:
    files = {name: home.folder / name for name in ("chain.pem", "chain.key")}
    env = {
        "WMSD_SERVER_TLS": "files",
        "WMSD_SERVER_CERTIFICATE": str(files["chain.pem"]),
        "WMSD_SERVER_CERTIFICATE_KEY": str(files["chain.key"]),
    }
    _put(files, first := new_authority(BOX, NOW))
    with home.serving(env=env) as server:
        port = int(server.address.rpartition(":")[2])
        with _connected(port) as kept:
            _put(files, second := new_authority(BOX, NOW))
            server.process.send_signal(signal.SIGHUP)
            while _certificate(port) != second.certificate:
                time.sleep(0.05)
            assert kept.getpeercert(binary_form=True) == first.certificate.public_bytes(Encoding.DER)
            kept.sendall(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert kept.recv(100).startswith(b"HTTP/1.1 200")
        files["chain.pem"].write_text("damaged")
        server.process.send_signal(signal.SIGHUP)
        while "the server keeps the previous certificate" not in server.log:
            time.sleep(0.05)
        assert _certificate(port) == second.certificate
        assert server.stop() == 0


def test_a_hangup_ends_nothing_without_tls(home: Home) -> None:
    with home.serving() as server:
        server.process.send_signal(signal.SIGHUP)
        assert server.get("/api/health", token="", company=None)[0] == 200
        assert server.stop() == 0


def _put(files: dict[str, Path], signed: Signed) -> None:
    files["chain.pem"].write_bytes(signed.certificate_pem)
    files["chain.key"].write_bytes(signed.key_pem)


def _connected(port: int) -> ssl.SSLSocket:
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    return anybody.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))


def _certificate(port: int) -> x509.Certificate:
    with _connected(port) as connection:
        return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True) or b"")


A_PEM = {"TLS": "files", "CERTIFICATE": "a.pem"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"TLS": "files"}, "tls = files needs a certificate"),
        (
            {"CERTIFICATE": "a.pem"},
            "certificate works only with tls = files: set server.tls to files, or remove server.certificate",
        ),
        ({"TLS": "files", "CERTIFICATE": "none.pem"}, "none.pem cannot be read: no such file or directory."),
        ({"TLS": "files", "CERTIFICATE": "text.pem"}, "text.pem has no private key."),
        (A_PEM, "a.pem has no private key. Set tls = files, and name the file of the private key in"),
        (
            {"TLS": "files", "CERTIFICATE": "a.pem", "CERTIFICATE_KEY": "b.key"},
            "does not belong to the certificate in",
        ),
        (
            {"TLS": "files", "CERTIFICATE": "a.pem", "CERTIFICATE_KEY": "locked.key"},
            "has a password, which wmsd cannot enter",
        ),
        ({"TLS": "files", "CERTIFICATE": "a.key"}, "a.key has no certificate."),
        (
            {**A_PEM, "CERTIFICATE_KEY": "text.pem"},
            "text.pem, named in server.certificate_key, has no private key.",
        ),
        (
            {"TLS": "files", "CERTIFICATE": "a.key", "CERTIFICATE_KEY": "a.pem"},
            "{home}/a.key has the private key, and {home}/a.pem has the certificate: exchange "
            "server.certificate and",
        ),
        ({**A_PEM, "CERTIFICATE_KEY": "half.key"}, "half.key is incomplete: an END line is missing."),
        (
            {"TLS": "files", "CERTIFICATE": "a.cer", "CERTIFICATE_KEY": "a.key"},
            "a.cer is in DER, but must be in PEM. Convert it: openssl x509 -inform der -in {home}/a.cer "
            "-out {home}/a.cer.pem",
        ),
        (
            {**A_PEM, "CERTIFICATE_KEY": "a.der"},
            "a.der is in DER, but must be in PEM. Convert it: openssl pkey -inform der -in {home}/a.der "
            "-out {home}/a.der.pem",
        ),
        (
            {"TLS": "files", "CERTIFICATE": "a.pfx"},
            "a.pfx is a PKCS #12 archive, but must be in PEM. Convert it: openssl pkcs12 -in {home}/a.pfx "
            "-nodes -out {home}/a",
        ),
    ],
)
def test_wrong_files_are_told_by_the_check_and_at_the_start(
    home: Home, settings: dict[str, str], sentence: str
) -> None:
    env = {f"WMSD_SERVER_{name}": value for name, value in settings.items()}
    for name in ("a", "b"):
        _put(
            {"chain.pem": home.folder / f"{name}.pem", "chain.key": home.folder / f"{name}.key"},
            new_authority(BOX, NOW),
        )
    locked = new_authority(BOX, NOW).key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    (home.folder / "locked.key").write_bytes(locked)
    home.write("text.pem", "no certificate")
    other = new_authority(BOX, NOW)
    home.write("half.key", other.key_pem[:100])
    home.write("a.cer", other.certificate.public_bytes(Encoding.DER))
    home.write("a.der", other.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    archive = serialize_key_and_certificates(b"a", other.key, other.certificate, None, NoEncryption())
    home.write("a.pfx", archive)
    for command in (("config", "check"), ("serve",)):
        done = home.run_fresh(*command, env=env)
        assert done.code != 0
        assert done.err.count(sentence.format(home=home.folder)) == 1
        assert done.err.count("Error: ") <= 1, "a mistake is told once"
    assert not home.data.exists()


def test_an_expired_certificate_is_told_and_served(home: Home) -> None:
    expired = new_certificate(new_authority(BOX, NOW), BOX, NOW - timedelta(days=500))
    (home.folder / "old.pem").write_bytes(expired.certificate_pem + expired.key_pem)
    env = {"WMSD_SERVER_TLS": "files", "WMSD_SERVER_CERTIFICATE": "old.pem"}
    assert "old.pem expired on" in home.run_fresh("config", "check", env=env).err
    with home.serving(env=env) as server:
        assert _certificate(int(server.address.rpartition(":")[2])) == expired.certificate
        told = (
            rf"error +The certificate {home.folder}/old.pem expired on .+ Replace the file with a new certificate"
        )
        assert re.search(told, server.log)
        assert server.stop() == 0
