"""A configured origin has the form in which browsers write it."""

import re

import pytest

from wmsd.settings.sections.public_url import check_public_url


@pytest.mark.parametrize(
    ("typed", "origin"),
    [
        ("https://wms.example.com", "https://wms.example.com"),
        ("https://WMS.Example.com/", "https://wms.example.com"),
        ("HTTPS://wms.example.com:443", "https://wms.example.com"),
        ("http://wms.example.com:443", "http://wms.example.com:443"),
        ("http://10.0.0.5:8080", "http://10.0.0.5:8080"),
        ("http://[fd00::5]:80", "http://[fd00::5]"),
        ("http://wms_1.lan", "http://wms_1.lan"),
        ("https://Lager.Müller.example:8443", "https://lager.xn--mller-kva.example:8443"),
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://mu\u0308ller.example", "https://xn--mller-kva.example"),
    ],
)
def test_it_is_what_browsers_send(typed: str, origin: str) -> None:
    assert check_public_url(typed) == origin


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("wms.example.com", "must begin with https:// or http://, such as https://wms.example.com"),
        ("ftp://wms.example.com", "must begin with https:// or http://"),
        ("https://example.com/wms", "wmsd does not support a sub-path: give wmsd its own host name"),
        ("https://wms.example.com/?a=b", "must have only a scheme, a host and optionally a port"),
        ("https://wms.example.com#top", "must have only a scheme, a host"),
        ("https://ana:secret@wms.example.com", "must have only a scheme, a host"),
        (" https://wms.example.com", "must have only a scheme, a host"),
        ("https://wms example.com", "must have the name or address of a host"),
        ("https://wms.example.com:0", "a port up to 65535"),
        ("https://wms.example.com:65536", "a port up to 65535"),
        ("https://wms.example.com:http", "a port up to 65535"),
        ("https://", "must have only a scheme, a host"),
        ("https://\u2603\u200b-.example", "must have the name or address of a host"),
    ],
)
def test_what_is_none_is_refused(typed: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        check_public_url(typed)
