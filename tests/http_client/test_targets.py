"""Tests of the errors of URLs and headers when they are entered."""

import pytest

from wmsd.http_client.guard import Guard
from wmsd.http_client.urls import LONGEST_URL, MOST_HEADERS, header_errors, parse_url, url_errors

STRICT = Guard()
HOME = Guard(["10.0.0.0/8", "127.0.0.1/32"], allow_http=True, allow_ports=[80, 443, "8000-8999"])
SPACE = "The URL must not contain white space, control characters or backslashes."
SCHEME = "The URL must begin with https://."
CREDENTIALS = "The URL must not contain credentials. Send the credentials in a header."
PORT = "The port of the URL must be a number from 1 to 65535."
HOST = "The URL must have a host."
NAME = "The host of the URL is not a valid name."
FRAGMENT = "The URL must not have a fragment (#), because wmsd cannot send a fragment."

AMBIGUOUS = """
2130706433 017700000001 0x7f000001 0x7f.1 0177.0.0.1 127.1 127.0.1 1.2.3.4.5 256.1.1.1 8.8.8.08
8.8.8.8. 0x a.0 receiver.example.127 １２７.1
"""

LITERAL = """
127.0.0.1 localhost LOCALHOST a.localhost localhost.localdomain ip6-localhost １２７.0.0.1
127。0。0。1 ⑫7.0.0.1 10.0.0.1 [::1] [::ffff:127.0.0.1] [fe80::1%25eth0] [fe80::1]
"""

OWN = """
Host HOST Content-Length content_length Content-Type Content-Encoding Transfer-Encoding
Transfer_Encoding Connection Upgrade TE Trailer Expect Proxy-Authorization Keep-Alive
Proxy-Connection Cookie User-Agent Accept-Encoding X-Webhook-Signature x-webhook-anything
webhook-id Webhook-Signature X-ThreePl-Sandbox HTTP2-Settings Date
"""


@pytest.mark.parametrize(
    "url",
    [
        "https://receiver.example",
        "https://receiver.example/",
        "HTTPS://Receiver.Example:8443/a/b?c=d&e=%2F",
        "https://receiver.example?x=@",
        "https://receiver.example/@me",
        "https://xn--bro-hoa.example/",
        "https://büro.example/straße?q=ü",
        "https://a_b.example/",
        "https://intranet/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]:443/",
        "https://1password.example/",
        "https://a." + ".".join(["b" * 50] * 4) + ".example/",
        "https://receiver.example/" + "a" * (LONGEST_URL - 25),
    ],
)
def test_good(url: str) -> None:
    assert url_errors(url, STRICT) == []


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://erp.lan:8080/", "https://localhost/", "http://127.0.0.1/"]
)
def test_good_at_home(url: str) -> None:
    assert url_errors(url, HOME) == []
    if url.startswith("http:"):
        assert SCHEME in url_errors(url, STRICT)


@pytest.mark.parametrize(
    ("url", "errors"),
    [
        ("https://receiver.example/" + "a" * (LONGEST_URL - 24), ["The URL must have at most 2048 characters."]),
        ("", [SCHEME]),
        ("receiver.example", [SCHEME]),
        ("//receiver.example/", [SCHEME]),
        ("ftp://receiver.example/", [SCHEME]),
        ("file:///etc/passwd", [SCHEME]),
        ("javascript:alert(1)", [SCHEME]),
        ("https:receiver.example", [SCHEME]),
        ("https:/receiver.example", [SCHEME]),
        ("http://receiver.example/", [SCHEME]),
        ("https://", [HOST]),
        ("https:///path", [HOST]),
        ("https://?query", [HOST]),
        ("https://:443/", [HOST]),
        ("https://[]/", [HOST]),
        ("https://[v1.a]/", [HOST]),
        ("https://[::1/", [HOST]),
        ("https://receiver.example/ x", [SPACE]),
        (" https://receiver.example/", [SPACE]),
        ("https://receiver.example/\n", [SPACE]),
        ("https://receiver.example/\r\nHost: a", [SPACE]),
        ("https://rece\tiver.example/", [SPACE]),
        ("https://receiver.example\\@127.0.0.1/", [SPACE]),
        ("https://receiver.example/\0", [SPACE]),
        ("https://receiver.example/\u202e", [SPACE]),
        ("https://receiver.example/\ud800", [SPACE]),
        ("https://rece\u200biver.example/", [SPACE]),
        ("https://user:secret@receiver.example/", [CREDENTIALS]),
        ("https://user@receiver.example/", [CREDENTIALS]),
        ("https://@receiver.example/", [CREDENTIALS]),
        ("https://receiver.example:/", [PORT]),
        ("https://receiver.example:0/", [PORT]),
        ("https://receiver.example:65536/", [PORT]),
        ("https://receiver.example:-1/", [PORT]),
        ("https://receiver.example:+443/", [PORT]),
        ("https://receiver.example:４４３/", [PORT]),
        ("https://receiver.example:4 43/", [SPACE]),
        ("https://receiver.example:https/", [PORT]),
        ("https://[2606:4700::1111]:x/", [PORT]),
        ("https://receiver.example/#part", [FRAGMENT]),
        ("https://receiver.example#", [FRAGMENT]),
        ("https://receiver.example./", [NAME]),
        ("https://.receiver.example/", [NAME]),
        ("https://receiver..example/", [NAME]),
        ("https://-receiver.example/", [NAME]),
        ("https://receiver-.example/", [NAME]),
        ("https://receiver%2eexample/", [NAME]),
        ("https://rece!ver.example/", [NAME]),
        ("https://" + "a" * 64 + ".example/", [NAME]),
        ("https://" + "a." * 130 + "example/", [NAME]),
        ("http://user@receiver.example/#part", [SCHEME, CREDENTIALS, FRAGMENT]),
    ],
)
def test_errors(url: str, errors: list[str]) -> None:
    assert url_errors(url, STRICT) == errors


@pytest.mark.parametrize("host", AMBIGUOUS.split())
def test_numbers_that_can_be_read_in_two_ways(host: str) -> None:
    for guard in (STRICT, HOME):
        (sentence,) = url_errors(f"https://{host}/", guard)
        assert sentence.endswith(
            "can mean different addresses. Write the address as four numbers, such as 192.0.2.1."
        )


@pytest.mark.parametrize("host", LITERAL.split())
def test_addresses_are_judged_at_once(host: str) -> None:
    assert len(url_errors(f"https://{host}/", STRICT)) == 1


def test_the_own_port() -> None:
    guard = Guard(["127.0.0.1/32"], own_ports=[8480], allow_ports=["8000-8999"])
    assert url_errors("https://127.0.0.1:8480/", guard) == [
        "127.0.0.1 at port 8480 is the address of wmsd. Use the address of another service."
    ]
    assert url_errors("https://127.0.0.1:8481/", guard) == []


def test_ports_are_judged_as_far_as_they_can_be() -> None:
    """Ports are checked as far as possible, although wmsd does not yet know what address a name leads to."""
    for host in ("receiver.example", "8.8.8.8", "10.0.0.1"):
        assert url_errors(f"https://{host}:25/", HOME) == [
            "Port 25 belongs to another protocol. Use a different port."
        ]
    assert url_errors("https://10.0.0.1:8443/", HOME) == []
    assert url_errors("https://receiver.example:9443/", HOME) == []
    (sentence,) = url_errors("https://10.0.0.1:9443/", HOME)
    assert sentence == "10.0.0.1 is a private address; to allow it, add port 9443 to webhooks.allow_ports."


def test_what_is_sent_is_what_was_given() -> None:
    url = "https://receiver.example/%7Ea/../b?q=%2F&r=a%20b+c&&"
    assert str(parse_url(url)) == url
    assert str(parse_url("https://büro.example/ü")) == "https://xn--bro-hoa.example/%C3%BC"


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer a.b-c"}, {"X-Api-Key": "k"}, {"X-A": "!~ a  b"}, {"A": "x" * 4096}],
)
def test_good_headers(headers: dict[str, str]) -> None:
    assert header_errors(headers) == {}


@pytest.mark.parametrize("name", OWN.split())
def test_headers_of_the_delivery(name: str) -> None:
    assert header_errors({name: "a"}) == {name: ["wmsd sets this header itself. Choose another name."]}


@pytest.mark.parametrize("name", ["", "X A", "X:A", "X-Ä", "X\r\nA", "X\0", "(X)", "X/A", ":path", "x" * 101])
def test_names_that_are_none(name: str) -> None:
    assert header_errors({name: "a"}) == {name: ["The name must be a header name of at most 100 characters."]}


@pytest.mark.parametrize(
    "value",
    ["", " ", "a ", " a", "a\r\nX-B: c", "a\nb", "a\rb", "a\0", "ä", "a\tb", "a\x7f", "a\u2028b", "x" * 4097],
)
def test_values_that_are_none(value: str) -> None:
    sentence = "The value must have 1 to 4096 visible ASCII characters, with spaces only between them."
    assert header_errors({"X-A": value}) == {"X-A": [sentence]}


def test_all_of_them() -> None:
    assert header_errors({f"X-{number}": "a" for number in range(MOST_HEADERS)}) == {}
    assert header_errors({f"X-{number}": "a" for number in range(MOST_HEADERS + 1)}) == {
        "": ["There must be at most 20 headers."]
    }
    assert header_errors({"X-A": "a", "x-a": "b"}) == {"": ["The header x-a appears more than once."]}
    assert header_errors({f"X-{number}": "a" * 4000 for number in range(3)}) == {
        "": ["The headers must have at most 8192 characters together."]
    }
    assert set(header_errors({"Host": "a", "X-A": "\n"})) == {"Host", "X-A"}
