"""Stock is adjusted, put into quarantine and released on the pages, by users with the right."""

import pytest

from tests.interfaces.pages.records.test_act import form_of, sent, still_in
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop

STOCK = "/companies/1/stock/1"
READS = ["stock:read", "articles:read", "warehouses:read"]
ACTS = ("adjust", "quarantine", "release")


@pytest.fixture
async def keeper(shop: Shop) -> Visitor:
    """Sign in a member who may change stock. Article A has 20 in stock, and an order reserves 3 of them."""
    await shop.order()
    return await signed_in(shop.world, "ACME", abilities=[*READS, "stock:write"])


async def ledger(shop: Shop) -> list[tuple[str, str | None]]:
    database = await shop.world.database()
    sql = "SELECT kind, reason FROM stock_movements ORDER BY id"
    return await database.read(lambda tx: [(kind, reason) for kind, reason in tx.rows(sql)])


async def test_an_adjustment_changes_the_quantity_and_keeps_its_reason(keeper: Visitor, shop: Shop) -> None:
    form = (await keeper.get(f"{STOCK}/adjust")).text
    assert (">A · MAIN</a>" in form, 'id="to" name="to" autofocus' in form) == (True, True)
    done = await sent(keeper, f"{STOCK}/adjust", by="-2", reason="Broken glass")
    assert (done.status, done.goes_to) == (303, f"{STOCK}?done=adjust"), done.text
    assert await shop.stock() == (18, 3, 15)
    assert (await ledger(shop))[-1] == ("adjustment", "Broken glass")
    assert "The stock is adjusted." in (await keeper.get(done.goes_to)).text
    assert (await sent(keeper, f"{STOCK}/adjust", to="40", reason="Found more")).status == 303
    assert await shop.stock() == (40, 3, 37)


async def test_goods_go_into_quarantine_and_come_out_of_it(keeper: Visitor, shop: Shop) -> None:
    assert "Release from quarantine" not in (await keeper.get(STOCK)).text
    assert (await sent(keeper, f"{STOCK}/quarantine", quantity="5", reason="Wet")).status == 303
    assert await shop.stock() == (20, 3, 12)
    assert "Release from quarantine" in (await keeper.get(STOCK)).text
    assert (await sent(keeper, f"{STOCK}/release", everything="on", reason="Dry again")).status == 303
    assert await shop.stock() == (20, 3, 17)
    assert [kind for kind, _ in (await ledger(shop))[-2:]] == ["quarantine", "release"]


async def test_what_orders_hold_stays_and_what_was_typed_too(keeper: Visitor, shop: Shop) -> None:
    seen = await sent(keeper, f"{STOCK}/adjust", to="2", reason="Counted")
    assert (
        seen.status,
        "must be at least 3, because this quantity is reserved or in quarantine" in text_of(seen.text),
    ) == (422, True)
    assert (still_in(seen)["to"], still_in(seen)["reason"]) == ("2", "Counted")
    seen = await sent(keeper, f"{STOCK}/adjust", to="18")
    assert (seen.status, 'id="reason-error"' in seen.text) == (422, True)
    assert await shop.stock() == (20, 3, 17)


async def test_stock_that_moved_meanwhile_is_looked_at_again(keeper: Visitor, shop: Shop) -> None:
    form = form_of(await keeper.get(f"{STOCK}/adjust"))
    await shop.order({"article_id": 1, "quantity": 1})
    seen = await keeper.post(f"{STOCK}/adjust", {**form, "to": "18", "reason": "Counted"})
    assert (seen.status, "Another user changed this record" in seen.text) == (412, True)
    assert await shop.stock() == (20, 4, 16)
    assert (await keeper.post(f"{STOCK}/adjust", still_in(seen))).status == 303
    assert await shop.stock() == (18, 4, 14)


async def test_sent_twice_is_done_once(keeper: Visitor, shop: Shop) -> None:
    form = {**form_of(await keeper.get(f"{STOCK}/adjust")), "by": "-2", "reason": "Broken"}
    for _ in range(2):
        assert (await keeper.post(f"{STOCK}/adjust", form)).goes_to == f"{STOCK}?done=adjust"
    assert await shop.stock() == (18, 3, 15)


@pytest.mark.parametrize("act", ACTS)
async def test_who_may_only_read_changes_nothing(shop: Shop, act: str) -> None:
    reader = await signed_in(shop.world, "ACME", abilities=READS)
    seen = await reader.get(STOCK)
    assert f"{STOCK}/{act}" not in seen.text
    assert (await reader.get(f"{STOCK}/{act}")).status == 403
    assert (await reader.post(f"{STOCK}/{act}", {"form_token": seen.form_token})).status == 403
    assert await shop.stock() == (20, 0, 20)
