"""Browsers are named as people know them."""

import pytest

from wmsd.interfaces.pages.people.account import named

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/120.0.0.0 Safari/537.36", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/120.0 Safari/537.36 Edg/120.0", "Edge on Windows"),
        (
            f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {WEBKIT} Chrome/120.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605 Version/17.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("curl/8.5.0", "curl/8.5.0"),
        ("Chrome/1", "Chrome/1"),
        ("", "unknown"),
    ],
)
def test_a_browser_is_named(agent: str, name: str) -> None:
    assert named(agent) == name
