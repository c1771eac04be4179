"""Lists of large records: a page ends where it is large enough, nothing is skipped, and it says so."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.shop import Shop
from wmsd.db.sql import lists
from wmsd.warehouse.sales_orders.store import ORDERS

MANY = 12
ROOM = 6_000
"""Bytes: for a few of the orders below."""


@pytest.fixture
async def large(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Orders of different sizes, some with letters of several bytes, and little room in a page."""
    for number in range(MANY):
        notes = ("ș" if number % 2 else "n") * (number * 150 + 1)
        await shop.order({"article_code": "A", "quantity": 0.001}, notes=notes)
    monkeypatch.setattr(lists, "LARGEST_PAGE", ROOM)
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


async def test_a_page_by_number_ends_early_and_says_so(large: Shop) -> None:
    whole = (await large.world.call("GET", "/api/sales-orders?per_page=2")).body
    assert (len(whole["data"]), whole["meta"]["truncated"]) == (2, False)
    cut = (await large.world.call("GET", "/api/sales-orders?per_page=200")).body
    assert 1 <= len(cut["data"]) < MANY
    meta = {"current_page": 1, "last_page": 1, "per_page": 200, "total": MANY, "truncated": True}
    assert cut["meta"] == {**meta, "as_of": whole["meta"]["as_of"]}
    assert [record["id"] for record in cut["data"]] == list(range(1, len(cut["data"]) + 1))


async def test_one_record_is_always_shown(large: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "LARGEST_PAGE", 10)
    pages = await walked(large, "/api/v2/sales-orders?per_page=500")
    assert [len(page) for page in pages] == [1] * MANY


async def test_parts_are_put_together_as_they_are_asked_for(large: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all were read at once, by several statuses too, whatever the parts."""
    monkeypatch.setattr(lists, "LARGEST_PAGE", 10**9)
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
    """Wherever the room ends: amid a part, or between two."""
    monkeypatch.setitem(ORDERS.__dict__, "listing", replace(ORDERS.listing, at_once=at_once))
    for room in range(500, 6_000, 250):
        monkeypatch.setattr(lists, "LARGEST_PAGE", room)
        pages = await walked(large, "/api/v2/sales-orders?per_page=500")
        assert [record["id"] for page in pages for record in page] == list(range(1, MANY + 1))
        first = (await large.world.call("GET", "/api/sales-orders?per_page=200")).body
        assert first["meta"]["truncated"] == (len(first["data"]) < MANY)
