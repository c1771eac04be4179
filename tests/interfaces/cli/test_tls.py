"""`[server] tls`: one PEM file, and the address is https."""

import json
import ssl
import urllib.request
from pathlib import Path

from tests.support.command import Home

CERTIFICATE = Path(__file__).parents[2] / "support" / "loopback.pem"
"""A certificate for 127.0.0.1 that nobody but these tests trusts, and its key."""


def test_it_serves_https(home: Home) -> None:
    with home.serving(env={"WMSD_SERVER_TLS": str(CERTIFICATE)}) as server:
        assert server.address.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        with urllib.request.urlopen(f"{server.address}/api/health", context=trusting, timeout=10) as answer:
            assert json.load(answer)["status"] == "ok"
