"""`[server] tls`: one PEM file, and the address is https."""

import json
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.command import Home

CERTIFICATE = Path(__file__).parents[2] / "support" / "loopback.pem"
"""A certificate for 127.0.0.1 that nobody but these tests trusts, and its key."""


def test_it_serves_https(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE)}) as server:
        assert server.address.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        with urllib.request.urlopen(f"{server.address}/api/health", context=trusting, timeout=10) as answer:
            assert json.load(answer)["status"] == "ok"
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


def test_what_speaks_no_tls_is_closed(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE)}) as server:
        port = int(server.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"HTTP/1.1" not in plain.recv(1000)
        assert server.stop() == 0
        assert "Traceback" not in server.log
