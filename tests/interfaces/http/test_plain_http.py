"""The reply to plain http at the port of https."""

import pytest

from wmsd.interfaces.http.plain_http import answer

TAIL = b"Accept: text/html\r\n\r\n"


def location(head: bytes) -> str | None:
    lines = answer(head).decode().split("\r\n")
    found = [line.removeprefix("Location: ") for line in lines if line.startswith("Location: ")]
    assert lines[0] == ("HTTP/1.1 307 Temporary Redirect" if found else "HTTP/1.1 400 Bad Request")
    return found[0] if found else None


@pytest.mark.parametrize(
    ("line", "host", "leads_to"),
    [
        (b"GET /", b"wms.lan:8480", "https://wms.lan:8480/"),
        (b"HEAD /today?company=1", b"192.168.1.20", "https://192.168.1.20/today?company=1"),
        (b"GET /apiary", b"[fd00::1]:8480", "https://[fd00::1]:8480/apiary"),
    ],
)
def test_a_page_leads_to_https(line: bytes, host: bytes, leads_to: str) -> None:
    assert location(b"%s HTTP/1.1\r\nhOST: %s\r\n%s" % (line, host, TAIL)) == leads_to


@pytest.mark.parametrize(
    "head",
    [
        b"POST /login HTTP/1.1\r\nHost: wms\r\n" + TAIL,
        b"GET /api HTTP/1.1\r\nHost: wms\r\n" + TAIL,
        b"GET /api/v2/articles HTTP/1.1\r\nHost: wms\r\n" + TAIL,
        b"GET /openapi.json HTTP/1.1\r\nHost: wms\r\n" + TAIL,
        b"GET / HTTP/1.1\r\nHost: a b\r\n" + TAIL,
        b"GET / HTTP/1.1\r\nHost: wms@elsewhere\r\n" + TAIL,
        b"GET http://elsewhere/ HTTP/1.1\r\nHost: wms\r\n" + TAIL,
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: wms\r\n" + TAIL,
        b"GET / HTTP/1.1\r\n" + TAIL,
        b"GET / HTTP/1.1\r\nHost: wm",
        b"SSH-2.0-x\r\n",
    ],
)
def test_everything_else_is_refused(head: bytes) -> None:
    assert location(head) is None
