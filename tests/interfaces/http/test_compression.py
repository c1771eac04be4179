"""Replies are compressed for clients that accept compression, and stay the same bytes for all others."""

import gzip
import json
from typing import Any

import pytest
from aiohttp import web

from tests.support.world import World
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.http.compression import LEAST, accepts_gzip

GZIP = {"Accept-Encoding": "gzip"}
PATHS = ["/api/articles?per_page=200", "/api/articles/sync?per_page=500", "/openapi.json", "/docs", "/docs/api"]


@pytest.fixture
async def stocked(world: World) -> World:
    assert "articles" in KINDS
    lines = "".join(f"A-{number},Article number {number}\n" for number in range(500))
    await world.import_csv("articles", f"code,name\n{lines}")
    return world


@pytest.mark.parametrize("path", PATHS)
async def test_a_compressed_answer_is_the_same_answer(stocked: World, path: str) -> None:
    plain = await stocked.send("GET", path)
    assert "Content-Encoding" not in plain.headers
    packed = await stocked.send("GET", path, headers=GZIP)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Content-Length"] == str(len(packed.raw))
    assert gzip.decompress(packed.raw) == plain.raw
    assert len(packed.raw) < len(plain.raw) / 2
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"]


@pytest.mark.parametrize(
    "path",
    [
        "/openapi.json",
        "/api/graphql/schema",
        "/docs",
        "/docs/search?q=stock",
    ],
)
async def test_an_answer_that_is_kept_is_compressed_once(
    world: World, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed: list[int] = []
    compress = gzip.compress

    def counted(data: bytes, *given: Any, **named: Any) -> bytes:
        compressed.append(len(data))
        return compress(data, *given, **named)

    plain = await world.send("GET", path)
    monkeypatch.setattr("wmsd.dispatch.prepared_answers.gzip.compress", counted)
    monkeypatch.setattr(
        web.Response, "enable_compression", lambda *given: pytest.fail("compressed for this answer")
    )
    for _ in range(3):
        packed = await world.send("GET", path, headers=GZIP)
        assert gzip.decompress(packed.raw) == plain.raw
    assert len(compressed) <= 1


async def test_what_depends_on_what_is_accepted_says_so(stocked: World) -> None:
    for path in (*PATHS, "/docs/errors", "/api/health", "/nothing"):
        for accepted in ({}, GZIP):
            answer = await stocked.send("GET", path, headers=accepted)
            assert "Accept-Encoding" in answer.headers["Vary"].split(", "), path


async def test_a_page_of_500_articles_shrinks_to_a_tenth(stocked: World) -> None:
    plain = await stocked.send("GET", "/api/articles/sync?per_page=500")
    packed = await stocked.send("GET", "/api/articles/sync?per_page=500", headers=GZIP)
    assert len(json.loads(plain.raw)["data"]) == 500
    assert len(packed.raw) < len(plain.raw) / 10


async def test_graphql_and_errors_are_compressed_too(stocked: World) -> None:
    query = {"query": "{ articles(first: 100) { nodes { code name } } }"}
    packed = await stocked.send("POST", "/api/graphql", query, headers=GZIP)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(packed.raw))["data"]["articles"]["nodes"]) == 100
    lines = [{"article_id": 0, "quantity": -1}] * 60
    wrong = await stocked.send("POST", "/api/sales-orders", {"lines": lines}, headers=GZIP)
    assert (wrong.status, wrong.headers["Content-Encoding"]) == (422, "gzip")
    assert json.loads(gzip.decompress(wrong.raw))["code"] == "VALIDATION_FAILED"


async def test_a_short_answer_and_an_empty_one_stay_as_they_are(stocked: World) -> None:
    for path in ("/api/articles/1", "/api/v2/meta", "/api/nothing"):
        answer = await stocked.send("GET", path, headers=GZIP)
        assert len(answer.raw) < LEAST
        assert "Content-Encoding" not in answer.headers
        assert isinstance(answer.body, dict)


async def test_head_tells_what_get_would_send(stocked: World) -> None:
    for path in PATHS[:3]:
        shown = await stocked.send("GET", path, headers=GZIP)
        told = await stocked.send("HEAD", path, headers=GZIP)
        assert told.raw == b""
        for name in ("Content-Encoding", "Content-Length", "ETag", "Vary"):
            assert told.headers.get(name) == shown.headers.get(name), name


async def test_a_compressed_answer_has_a_tag_of_its_own_that_is_known_either_way(stocked: World) -> None:
    await stocked.call("PATCH", "/api/articles/1", {"description": "x" * 2000}, events=["article.updated"])
    path = "/api/articles/1"
    plain = (await stocked.send("GET", path)).headers["ETag"]
    packed = (await stocked.send("GET", path, headers=GZIP)).headers["ETag"]
    assert packed == f'{plain[:-1]}-gzip"'
    for tag, own in ((plain, plain), (packed, packed), (f"W/{packed}", packed)):
        for accepted in ({}, GZIP):
            known = await stocked.send("GET", path, headers={"If-None-Match": tag, **accepted})
            assert (known.status, known.raw, known.headers["ETag"]) == (304, b"", own)
            assert "Content-Encoding" not in known.headers


async def test_the_tag_of_a_compressed_record_is_good_for_if_match(stocked: World) -> None:
    text = "x" * 2000
    await stocked.call("PATCH", "/api/articles/1", {"description": text}, events=["article.updated"])
    tag = (await stocked.send("GET", "/api/articles/1", headers=GZIP)).headers["ETag"]
    assert tag.endswith('-gzip"')
    changed = await stocked.send("PATCH", "/api/articles/1", {"name": "New"}, headers={"If-Match": tag})
    assert changed.status == 200
    again = await stocked.send("PATCH", "/api/articles/1", {"name": "Newer"}, headers={"If-Match": tag})
    assert again.status == 412


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("br, gzip;q=0.5", True),
        ("gzip ; q=0.001", True),
        ("*", True),
        ("*;q=0.5", True),
        ("", False),
        ("br", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("*;q=0", False),
        ("gzip;q=nonsense", False),
        ("notgzip", False),
        (";;,,;q=", False),
    ],
)
def test_who_accepts_it(header: str, expected: bool) -> None:
    assert accepts_gzip(header) is expected
