"""One act for many records of a list: for the selected records, or for all records that match."""

import re

import pytest

from tests.interfaces.pages.records.test_act import still_in
from tests.interfaces.pages.records.test_browse import rows, signed_in, text_of
from tests.interfaces.pages.records.test_document_work import OF_OFFICE, ORDERS
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from wmsd.interfaces.pages.records import bulk


@pytest.fixture
async def office(shop: Shop) -> Visitor:
    """Sign in a member of the company who may read and write documents."""
    return await signed_in(shop.world, "ACME", abilities=OF_OFFICE)


async def chosen(visitor: Visitor, act: str, *ids: int, path: str = ORDERS, **fields: str) -> Seen:
    """Return the page that asks for confirmation, for the records selected in the list."""
    token = (await visitor.get(path.partition("?")[0])).form_token
    ticked = {f"record.{each}": f"SO-{each:06}" for each in ids}
    address = path.replace("?", "/bulk?") if "?" in path else f"{path}/bulk"
    return await visitor.post(address, {"form_token": token, "act": act, **ticked, **fields})


async def done(visitor: Visitor, asked: Seen, path: str = ORDERS, **fields: str) -> Seen:
    assert asked.status == 200, text_of(asked.text)
    return await visitor.post(f"{path}/bulk", {**still_in(asked), **fields})


async def statuses(shop: Shop) -> list[str]:
    records = (await shop.world.call("GET", "/api/sales-orders?sort=id")).body["data"]
    return [record["status"] for record in records]


def told(seen: Seen) -> str:
    found = re.search(r'<p[^>]*role="status">(.*?)</p>', seen.text, re.DOTALL)
    assert found, seen.text
    return text_of(found[1])


async def test_what_is_ticked_is_moved_at_once(office: Visitor, shop: Shop) -> None:
    for _ in range(3):
        await shop.order()
    assert 'name="record.1" value="SO-000001"' in (await office.get(ORDERS)).text
    asked = await chosen(office, "start", 1, 3)
    assert "This action is for 2 records." in text_of(asked.text)
    assert await statuses(shop) == ["CREAT", "CREAT", "CREAT"]
    seen = await done(office, asked)
    assert told(seen) == "Done for 2 records."
    assert await statuses(shop) == ["IN_LUCRU", "CREAT", "IN_LUCRU"]


async def test_what_fails_is_told_with_its_reason_and_the_rest_is_done(office: Visitor, shop: Shop) -> None:
    for status in ("IN_LUCRU", "LIVRAT", "IN_LUCRU"):
        await shop.order(status=status)
    seen = await done(office, await chosen(office, "load", 1, 2, 3))
    assert told(seen) == "Done for 2 records. Not done for 1 record, for this reason:"
    ((code, reason),) = rows(seen)
    assert code == "SO-000002"
    assert "LIVRAT" in reason
    assert await statuses(shop) == ["INCARCAT", "LIVRAT", "INCARCAT"]


async def test_all_that_match_go_in_groups(office: Visitor, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    for _ in range(5):
        await shop.order({"article_id": 1, "quantity": 1})
    await shop.order({"article_id": 1, "quantity": 1}, status="LIVRAT")
    asked = await chosen(office, "start", path=f"{ORDERS}?partner=P1", all="1")
    assert "This action is for 5 records." in text_of(asked.text)
    seen = await done(office, asked)
    assert (told(seen), "data-go-on" in seen.text) == ("2 of 5", True)
    seen = await done(office, seen)
    assert told(seen) == "4 of 5"
    seen = await done(office, seen)
    assert (told(seen), "data-go-on" in seen.text) == ("Done for 5 records.", False)
    assert await statuses(shop) == ["IN_LUCRU"] * 5 + ["LIVRAT"]


async def test_a_group_that_is_sent_twice_is_done_once(office: Visitor, shop: Shop) -> None:
    await shop.order()
    asked = await chosen(office, "start", 1)
    for _ in range(2):
        assert told(await done(office, asked)) == "Done for 1 record."
    assert (await shop.world.call("GET", "/api/v2/sales-orders/1")).body["status"] == "IN_LUCRU"


async def test_too_many_and_none_are_refused_before_anything_is_done(
    office: Visitor, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MOST", 2)
    for _ in range(3):
        await shop.order()
    seen = await chosen(office, "start", 1, 2, 3)
    assert (seen.status, "3 records are selected, but the limit is 2." in text_of(seen.text)) == (422, True)
    seen = await chosen(office, "start", all="1")
    assert (seen.status, "More than 2 records match." in text_of(seen.text)) == (422, True)
    seen = await chosen(office, "start")
    assert (seen.status, "No records are selected." in text_of(seen.text)) == (422, True)
    token = (await office.get(ORDERS)).form_token
    sent = {"form_token": token, "act": "start", "go": "1", **{f"record.{each}": "x" for each in (1, 2, 3)}}
    assert (await office.post(f"{ORDERS}/bulk", sent)).status == 422
    assert await statuses(shop) == ["CREAT"] * 3


async def test_goods_of_several_records_go_into_quarantine_with_a_reason(shop: Shop) -> None:
    keeper = await signed_in(shop.world, "ACME", abilities=["stock:read", "stock:write"])
    path = "/companies/1/stock"
    asked = await chosen(keeper, "quarantine", 1, 2, path=path)
    seen = await keeper.post(f"{path}/bulk", {**still_in(asked), "everything": "on"})
    assert (seen.status, 'id="reason-error"' in seen.text) == (422, True)
    seen = await keeper.post(f"{path}/bulk", {**still_in(seen), "everything": "on", "reason": "Flood"})
    assert told(seen).startswith("Done for 2 records."), seen.text
    assert await shop.stock() == (20, 0, 0)


async def test_who_may_only_read_is_offered_nothing_and_does_nothing(shop: Shop) -> None:
    await shop.order()
    reader = await signed_in(shop.world, "ACME", abilities=["sales-orders:read"])
    seen = await reader.get(ORDERS)
    assert 'id="bulk"' not in seen.text and 'name="record.1"' not in seen.text
    sent = {"form_token": seen.form_token, "act": "start", "record.1": "SO-000001", "go": "1"}
    assert (await reader.post(f"{ORDERS}/bulk", sent)).status == 403
    assert await statuses(shop) == ["CREAT"]


@pytest.mark.parametrize("act", ["", "change", "new", "nothing"])
async def test_an_act_that_is_not_for_many_is_no_page(office: Visitor, shop: Shop, act: str) -> None:
    await shop.order()
    assert (await chosen(office, act, 1)).status == 404
