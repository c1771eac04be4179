"""Tests of Bech32, with the valid strings of BIP-173."""

import pytest

from wmsd.base.bech32 import encoded


@pytest.mark.parametrize(
    ("prefix", "content", "text"),
    [
        ("a", "", "a12uel5l"),
        (
            "split",
            "c5f38b70305f519bf66d85fb6cf03058f3dde463ecd7918f2dc743918f2d",
            "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
        ),
        ("abcdef", "00443214c74254b635cf84653a56d7c675be77df", "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"),
    ],
)
def test_the_valid_strings_of_the_standard(prefix: str, content: str, text: str) -> None:
    assert encoded(prefix, bytes.fromhex(content)) == text
