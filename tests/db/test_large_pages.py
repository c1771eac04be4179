"""Tests of lists of large records: a page ends when it is large enough, no record is skipped, and the answer says
so.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.shop import Shop
from wmsd.db.sql import joined_records
from wmsd.dispatch import page_pieces
from wmsd.dispatch.limits.work_admission import Turn
from wmsd.warehouse.sales_orders.store import ORDERS

MANY = 12
ROOM = 6_000
"""The most bytes of a page: enough for a few of the orders below."""


@pytest.fixture
async def large(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Return a shop with orders of different sizes, some with letters of several bytes, and with a small limit for
    pages.
    """
    for number in range(MANY):
        notes = ("ș" if number % 2 else "n") * (number * 150 + 1)
        await shop.order({"article_code": "A", "quantity": 0.001}, notes=notes)
    monkeypatch.setattr(joined_records, "LARGEST_PAGE", ROOM)
    return shop


def size(records: list[Any]) -> int:
    return len(json.dumps(records, ensure_ascii=False, separators=(",", ":")).encode())


async def walked(shop: Shop, path: str) -> list[list[Any]]:
    pages = []
    cursor: str | None = ""
    while cursor is not None:
        answer = (await shop.world.call("GET", f"{path}{f'&cursor={cursor}' if cursor else ''}")).body
        pages.append(answer["data"])
        cursor = answer["next_cursor"]
    return pages


@pytest.mark.parametrize("per_page", [1, 3, 500])
async def test_a_walk_by_cursor_skips_nothing(large: Shop, per_page: int) -> None:
    pages = await walked(large, f"/api/v2/sales-orders?per_page={per_page}")
    assert [record["id"] for page in pages for record in page] == list(range(1, MANY + 1))
    assert all(size(page) <= ROOM + 2 for page in pages if len(page) > 1)
    if per_page == 500:
        assert len(pages) > 2


async def test_a_walk_of_events_skips_nothing(large: Shop) -> None:
    pages = await walked(large, "/api/v2/events?per_page=500&event=sales_order.created")
    assert [event["entity_id"] for page in pages for event in page] == list(range(1, MANY + 1))
    assert len(pages) > 2


@pytest.mark.parametrize("query", ["", "&per_page=50", "&sort=-id", "&sort=-updated_at", "&status=CREAT,IN_LUCRU"])
async def test_a_page_of_fifty_is_never_shortened(
    large: Shop, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """A page of fifty records is never shortened. The page is the same as when it is read in one piece."""
    path = f"/api/sales-orders?page=1{query}"
    in_pieces = await large.world.call("GET", path)
    assert in_pieces.headers["Transfer-Encoding"] == "chunked"
    monkeypatch.setattr(joined_records, "LARGEST_PAGE", 10**9)
    at_once = await large.world.call("GET", path)
    assert in_pieces.raw == at_once.raw
    assert len(at_once.body["data"]) == MANY
    for name in ("Content-Type", "Server", "Vary", "X-Content-Type-Options", "Link"):
        assert in_pieces.headers.get(name) == at_once.headers.get(name)
    assert in_pieces.headers["X-Request-Id"] != at_once.headers["X-Request-Id"]
    assert (in_pieces.headers["Cache-Control"], in_pieces.headers.get("ETag")) == ("no-store", None)


async def test_its_head_alone_can_be_asked_for(large: Shop) -> None:
    answer = await large.world.send("HEAD", "/api/sales-orders")
    assert (answer.status, answer.raw) == (200, b"")
    assert (await large.world.call("GET", "/api/articles")).status == 200


async def test_a_larger_page_is_refused_with_the_largest_that_works(large: Shop) -> None:
    refused = await large.world.call("GET", "/api/sales-orders?per_page=51", status=422)
    assert refused.errors == {
        "per_page": [
            "must be at most 50 for this list: a page of 51 records is too large for one answer. Begin again at "
            "page 1"
        ]
    }
    found = []
    for page in range(1, 5):
        shown = (await large.world.call("GET", f"/api/sales-orders?per_page=3&page={page}")).body
        found += [record["id"] for record in shown["data"]]
        assert shown["meta"]["truncated"] is False
    assert found == list(range(1, MANY + 1))


async def test_a_large_page_that_fits_is_whole(large: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_records, "LARGEST_PAGE", 10**9)
    whole = await large.world.call("GET", "/api/sales-orders?per_page=200")
    assert len(whole.body["data"]) == MANY


async def test_a_record_that_changes_between_two_pieces_is_shown_as_it_is_then(
    large: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that changes between two pieces appears as it is then.

    The search is not repeated, so no record is lost or comes twice.
    """
    read, status = page_pieces.read_some, "IN_LUCRU"
    pieces = 0

    def read_and_count(*given: Any) -> page_pieces.Some:
        nonlocal pieces
        pieces += 1
        return read(*given)

    async def change(_turn: Turn, _seconds: float, _size: int = 0) -> None:
        if pieces == 1:
            await large.world.send("PATCH", f"/api/v2/sales-orders/{MANY}/status", {"status": status})

    monkeypatch.setattr("wmsd.dispatch.dispatcher.read_some", read_and_count)
    monkeypatch.setattr(Turn, "pay", change)
    shown = (await large.world.send("GET", "/api/sales-orders?status=CREAT")).body
    assert pieces > 1
    assert [record["id"] for record in shown["data"]] == list(range(1, MANY + 1))
    assert [record["status"] for record in shown["data"]] == ["CREAT"] * (MANY - 1) + [status]


async def test_one_record_is_always_shown(large: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_records, "LARGEST_PAGE", 10)
    pages = await walked(large, "/api/v2/sales-orders?per_page=500")
    assert [len(page) for page in pages] == [1] * MANY


async def test_parts_are_put_together_as_they_are_asked_for(large: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are joined as if everything was read in one piece, for several statuses too, whatever the size of the
    pieces.
    """
    monkeypatch.setattr(joined_records, "LARGEST_PAGE", 10**9)
    paths = ("/api/sales-orders?per_page=7&page=2", "/api/sales-orders?per_page=200&status=CREAT,IN_LUCRU")
    await large.world.send("PATCH", "/api/v2/sales-orders/5/status", {"status": "IN_LUCRU"})
    expected = [(await large.world.call("GET", path)).body for path in paths]
    for at_once in (1, 2, 5):
        monkeypatch.setitem(ORDERS.__dict__, "listing", replace(ORDERS.listing, at_once=at_once))
        assert [(await large.world.call("GET", path)).body for path in paths] == expected


@pytest.mark.parametrize("at_once", [1, 2, 3, 5])
async def test_a_part_without_room_for_its_first_record_ends_no_walk(
    large: Shop, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """A piece without room for its first record does not end a walk, wherever the room ends: within a piece or
    between two.
    """
    monkeypatch.setitem(ORDERS.__dict__, "listing", replace(ORDERS.listing, at_once=at_once))
    for room in range(500, 6_000, 250):
        monkeypatch.setattr(joined_records, "LARGEST_PAGE", room)
        pages = await walked(large, "/api/v2/sales-orders?per_page=500")
        assert [record["id"] for page in pages for record in page] == list(range(1, MANY + 1))
        if room % 2_000 == 0:  # each piece pauses, so that others come first
            first = (await large.world.call("GET", "/api/sales-orders")).body
            assert [record["id"] for record in first["data"]] == list(range(1, MANY + 1))
