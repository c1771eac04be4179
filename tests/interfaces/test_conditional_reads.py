"""If-None-Match, Link and the draft's rate headers: a body that the client has already is not sent again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.shop import Shop
from tests.support.world import Answer, World, open_world
from wmsd.dispatch.replies import SHORT

RECORDS = ("/api/articles/1", "/api/v2/sales-orders/1", "/api/sales-orders/1")
LISTS = ("/api/articles", "/api/articles/sync", "/api/v2/stock", "/api/stock", "/api/v2/events", "/api/clients")


@pytest.fixture
async def limited(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 6}}) as world:
        yield world


def left(answer: Answer) -> int:
    return int(answer.headers["X-RateLimit-Remaining"])


@pytest.mark.parametrize("path", [*RECORDS, *LISTS])
async def test_what_has_not_changed_is_not_sent_again(shop: Shop, path: str) -> None:
    await shop.order()
    first = await shop.world.call("GET", path)
    assert first.headers["Cache-Control"] == "private, no-cache"
    assert first.headers["Vary"] == "Accept, Accept-Encoding, Authorization, X-Company-Id"
    tag = first.headers["ETag"]
    bare = tag.removeprefix("W/")
    for known in (tag, bare, f"W/{bare}", bare.strip('"'), f'"other", {tag}', "*"):
        for method in ("GET", "HEAD"):
            answer = await shop.world.call(method, path, status=304, headers={"If-None-Match": known})
            assert (answer.raw, answer.headers["ETag"]) == (b"", tag)
            assert "Content-Type" not in answer.headers
    for other in ('"other"', "", "*x", bare[2:-1]):
        again = await shop.world.call("GET", path, headers={"If-None-Match": other})
        assert again.raw == first.raw


async def test_what_has_changed_is_sent(shop: Shop) -> None:
    for path in ("/api/articles/1", "/api/articles", "/api/articles/sync"):
        tag = (await shop.world.call("GET", path)).headers["ETag"]
        await shop.world.call("PATCH", "/api/articles/1", {"name": path}, events=["article.updated"])
        answer = await shop.world.call("GET", path, headers={"If-None-Match": tag})
        assert answer.headers["ETag"] != tag


async def test_a_change_is_never_taken_for_known(shop: Shop) -> None:
    """Only reads are conditional: a write with If-None-Match returns the written record."""
    tag = (await shop.world.call("GET", "/api/articles/1")).headers["ETag"]
    sent = {"If-None-Match": f"{tag}, *"}
    same = await shop.world.call("PATCH", "/api/articles/1", {}, headers=sent)
    assert (same.status, same.headers["ETag"]) == (200, tag)


async def test_ten_answers_of_nothing_new_count_as_one(limited: World) -> None:
    first = await limited.call("GET", "/api/articles")
    known = {"If-None-Match": first.headers["ETag"]}
    told = [left(await limited.call("GET", "/api/articles", status=304, headers=known)) for _ in range(20)]
    assert told == [5] * 9 + [4] * 10 + [3]
    assert left(await limited.call("GET", "/api/articles")) == 2


async def test_a_used_up_limit_refuses_also_what_would_be_known(limited: World) -> None:
    tag = (await limited.call("GET", "/api/articles")).headers["ETag"]
    for _ in range(5):
        await limited.call("GET", "/api/articles")
    await limited.call("GET", "/api/articles", status=429, headers={"If-None-Match": tag})


async def test_another_caller_learns_nothing_from_a_tag(shop: Shop) -> None:
    tag = (await shop.world.call("GET", "/api/articles/1")).headers["ETag"]
    await shop.world.call("GET", "/api/articles/1", token="", status=401, headers={"If-None-Match": tag})
    other = await shop.world.new_company("OTHER")
    await shop.world.call("GET", "/api/articles/1", company=other, status=404, headers={"If-None-Match": tag})


async def test_a_long_list_has_no_tag(world: World) -> None:
    lines = "".join(f"A-{number},{'x' * 200}\n" for number in range(400))
    await world.import_csv("articles", f"code,name\n{lines}")
    answer = await world.call("GET", "/api/articles/sync?per_page=400")
    assert len(answer.raw) > SHORT
    assert "ETag" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"


def links(answer: Answer) -> dict[str, str]:
    if "Link" not in answer.headers:
        return {}
    found = {}
    for part in answer.headers["Link"].split(", "):
        address, _, name = part.partition('>; rel="')
        found[name.rstrip('"')] = address.lstrip("<")
    return found


async def test_links_lead_through_the_pages(world: World) -> None:
    await world.import_csv("articles", "code,name\n" + "".join(f"A-{n},Nut & bolt {n}\n" for n in range(5)))
    first = await world.call("GET", "/api/articles?per_page=2&search=nut%20bolt")
    at = links(first)
    assert at == {
        "first": "/api/articles?per_page=2&search=nut+bolt&page=1",
        "next": "/api/articles?per_page=2&search=nut+bolt&page=2",
        "last": "/api/articles?per_page=2&search=nut+bolt&page=3",
    }
    seen, path = [], at["first"]
    while True:
        page = await world.call("GET", path)
        seen += [each["code"] for each in page.body["data"]]
        if "next" not in links(page):
            break
        path = links(page)["next"]
    assert seen == [f"A-{n}" for n in range(5)]
    assert set(links(page)) == {"first", "prev", "last"}
    assert links(await world.call("GET", links(page)["prev"]))["next"] == path


async def test_links_lead_through_a_walk(world: World) -> None:
    await world.import_csv("articles", "code,name\n" + "".join(f"A-{n},N\n" for n in range(5)))
    seen, path = [], "/api/articles/sync?per_page=2"
    while path:
        page = await world.call("GET", path)
        seen += [each["code"] for each in page.body["data"]]
        path = links(page).get("next", "")
        assert bool(path) is (page.body["next_cursor"] is not None)
    assert seen == [f"A-{n}" for n in range(5)]


async def test_the_page_after_the_last_leads_back(world: World) -> None:
    answer = await world.call("GET", "/api/articles?page=7")
    assert links(answer) == dict.fromkeys(["first", "prev", "last"], "/api/articles?page=1")
    await world.import_csv("articles", "code,name\n" + "".join(f"A-{n},N\n" for n in range(5)))
    beyond = await world.call("GET", "/api/articles?per_page=2&page=9")
    assert links(beyond)["prev"] == links(beyond)["last"] == "/api/articles?per_page=2&page=3"


async def test_a_link_holds_nothing_that_could_end_it(world: World) -> None:
    answer = await world.call("GET", "/api/articles?search=%3E%3B%20rel%3Dx%0D%0AX-Evil%3A%201")
    assert "X-Evil" not in answer.headers
    assert set(links(answer)) == {"first", "last"}


async def test_the_drafts_headers_say_the_same_as_ours(world: World) -> None:
    answer = await world.call("GET", "/api/articles")
    limit, remaining, reset = (answer.headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset"))
    assert answer.headers["RateLimit-Policy"] == f'"minute";q={limit};w=60'
    assert answer.headers["RateLimit"] == f'"minute";r={remaining};t={reset}'
