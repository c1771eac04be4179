"""Tests of `left_unread`: contexts that are created meanwhile read no certificate authorities, and later contexts
do.
"""

import ssl
from pathlib import Path

import pytest

from wmsd.base.aiohttp_without_cas import left_unread

AUTHORITY = Path(__file__).parents[1] / "support" / "loopback.pem"


def authorities() -> int:
    """Return how many authorities a new context trusts."""
    return ssl.create_default_context().cert_store_stats()["x509"]


def test_authorities_are_left_unread_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    assert authorities() == 1
    with left_unread():
        assert authorities() == 0
    assert authorities() == 1
    with pytest.raises(ImportError), left_unread():
        raise ImportError
    assert authorities() == 1
