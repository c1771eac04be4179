"""Uploads over raw sockets that lie about their length, never end, break off or are not a form. Each gets a reply
or its connection is closed, and no upload leaves anything behind.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_import_files import NEW
from tests.support.shop import Shop
from wmsd.interfaces.http import requests

BOUNDARY = "b0undary"
PATIENCE_SECONDS = 10


@pytest.fixture
async def visitor(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    found = await signed_in(shop.world)
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.5)
    return found


def head(visitor: Visitor, length: int | None, more: str = "", content_type: str = "") -> bytes:
    parts = urlsplit(visitor.world.base_url)
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    kind = content_type or f"multipart/form-data; boundary={BOUNDARY}"
    return (
        f"POST {NEW} HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n"
        f"User-Agent: {visitor.agent}\r\nContent-Type: {kind}\r\n{size}\r\n{more}\r\n"
    ).encode()


def field(name: str, value: str) -> bytes:
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def file_head(name: str = "list.csv") -> bytes:
    disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    return f"--{BOUNDARY}\r\n{disposition}\r\nContent-Type: text/csv\r\n\r\n".encode()


async def answered(visitor: Visitor, raw: bytes, ends: bool = False) -> int | None:
    """Return the status of the reply, or None if the connection is closed without a reply."""
    parts = urlsplit(visitor.world.base_url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        with suppress(ConnectionError):
            writer.write(raw)
            await writer.drain()
            if ends:
                writer.write_eof()
        async with asyncio.timeout(PATIENCE_SECONDS):
            with suppress(ConnectionError):
                line = await reader.readline()
                return int(line.split()[1]) if line else None
        return None
    finally:
        writer.close()


def kept(visitor: Visitor) -> list[Path]:
    return list((visitor.world.installation.folder.path / "imports").rglob("file"))


async def nothing_stays(visitor: Visitor) -> None:
    for _ in range(50):
        if not kept(visitor):
            return
        await asyncio.sleep(0.1)
    assert kept(visitor) == []


async def test_a_length_that_is_a_lie(visitor: Visitor) -> None:
    token = (await visitor.get(NEW)).form_token
    form = field("form_token", token) + field("kind", "clients") + file_head() + b"code,name\nA,B\n"
    assert await answered(visitor, head(visitor, len(form) + 5000) + form) == 408
    assert await answered(visitor, head(visitor, len(form) + 5000) + form, ends=True) in (400, 408, None)
    assert await answered(visitor, head(visitor, 10**12) + form) == 413
    await nothing_stays(visitor)


async def test_a_file_without_an_end(visitor: Visitor) -> None:
    """The upload is cut off when it is too large or too slow."""
    token = (await visitor.get(NEW)).form_token
    begun = field("form_token", token) + file_head()
    chunk = f"{len(begun):x}\r\n".encode() + begun + b"\r\n"
    assert await answered(visitor, head(visitor, None) + chunk) == 408
    block = b"x" * 1_000_000
    flood = chunk + (f"{len(block):x}\r\n".encode() + block + b"\r\n") * 102
    assert await answered(visitor, head(visitor, None) + flood) in (413, None)
    await nothing_stays(visitor)


NO_FORMS = {
    "no boundary": (b"", "multipart/form-data", 400),
    "no parts": (b"nothing of a form", "", (400, 403)),
    "another type": (b"a=b", "application/x-www-form-urlencoded", 403),
    "JSON": (b"{}", "application/json", 415),
    "nested": (
        b"--b0undary\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\n--x--\r\n--b0undary--",
        "",
        400,
    ),
    "no name": (b"--b0undary\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b0undary--\r\n", "", 400),
    "a huge head": (b"--b0undary\r\nX: " + b"y" * 100_000 + b"\r\n\r\nx\r\n--b0undary--\r\n", "", 400),
    "a huge field": (field("kind", "y" * 100_000) + b"--b0undary--\r\n", "", 400),
    "a file first": (file_head() + b"code\r\n--b0undary--\r\n", "", 403),
    "no text": (
        b'--b0undary\r\nContent-Disposition: form-data; name="k"\r\n\r\n\xff\r\n--b0undary--\r\n',
        "",
        400,
    ),
}


@pytest.mark.parametrize("name", NO_FORMS)
async def test_what_is_no_form(visitor: Visitor, name: str) -> None:
    body, content_type, expected = NO_FORMS[name]
    status = await answered(visitor, head(visitor, len(body), content_type=content_type) + body)
    assert status in (expected if isinstance(expected, tuple) else (expected,))
    await nothing_stays(visitor)


async def test_a_compressed_form(visitor: Visitor) -> None:
    raw = head(visitor, 10, "Content-Encoding: gzip\r\n") + b"\x1f\x8b" + bytes(8)
    assert await answered(visitor, raw) in (400, 415)


async def test_a_name_that_is_a_path(visitor: Visitor) -> None:
    token = (await visitor.get(NEW)).form_token
    form = field("form_token", token) + field("kind", "clients") + file_head("../../../etc/passwd")
    form += b"code,name\nA,B\n\r\n--b0undary--\r\n"
    assert await answered(visitor, head(visitor, len(form)) + form) == 303
    folder = visitor.world.installation.folder.path / "imports"
    assert [each.name for each in folder.rglob("*") if each.is_file() and "passwd" in each.name] == []


async def test_many_at_once_are_bounded(visitor: Visitor) -> None:
    token = (await visitor.get(NEW)).form_token
    form = field("form_token", token) + file_head() + b"code"
    statuses = await asyncio.gather(*(answered(visitor, head(visitor, 10_000) + form) for _ in range(6)))
    assert set(statuses) == {408, 409}
    assert statuses.count(408) == 2
    await nothing_stays(visitor)
