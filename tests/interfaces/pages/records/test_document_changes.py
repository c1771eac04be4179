"""The page of a document tells every reader who created, moved and changed the document."""

import re
from functools import partial

import pytest

from tests.interfaces.pages.records.test_browse import NOTHING, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.db.engine.transaction import Transaction

PATH = "/companies/1/sales-orders/1"
BY = "admin@example.com (test)"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in at a shop with an order. A program has changed its partner, lines and notes, and has moved the
    order.
    """
    world = shop.world
    await shop.order()
    changed = {"partner_id": 2, "notes": SCRIPT, "lines": [{"article_id": 1, "quantity": 1.5}]}
    assert (await world.send("PATCH", "/api/sales-orders/1", changed)).status == 200
    assert (await world.send("PATCH", "/api/sales-orders/1", {"status": "IN_LUCRU"})).status == 200
    return await signed_in(world)


def changes(seen: Seen) -> list[list[str]]:
    """Return the changes, the newest first: the actor, the act, the status, and the values before and after."""
    assert seen.status == 200, seen.text
    (table,) = re.findall(r'id="changes".*?<tbody>(.*?)</tbody>', seen.text, re.DOTALL)
    return [
        [text_of(cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL)][1:]
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    ]


async def test_who_did_what(visitor: Visitor) -> None:
    seen = await visitor.get(PATH)
    assert changes(seen) == [
        [BY, "status changed", "In work", NOTHING],
        [
            BY,
            "changed",
            NOTHING,
            f"Partner: P1 → P2 Notes: {NOTHING} → {SCRIPT} "
            "Lines: Article code A, Quantity 3, Warehouse MAIN → Article code A, Quantity 1.5, Warehouse MAIN",
        ],
        [BY, "created", "Created", NOTHING],
    ]
    assert SCRIPT not in seen.text
    assert "<h2>History</h2>" in seen.text
    assert "Earlier changes are not recorded." not in seen.text


async def test_an_address_is_told_by_its_parts(visitor: Visitor) -> None:
    world = visitor.world
    made = await world.send(
        "POST",
        "/api/sales-orders",
        {
            "partner_id": 1,
            "warehouse_id": 1,
            "lines": [{"article_id": 1, "quantity": 1}],
            "ship_to": {"city": "Cluj"},
        },
    )
    ship_to = {"ship_to": {"city": "Iași", "name": "Ana"}}
    assert (await world.send("PATCH", f"/api/sales-orders/{made.id}", ship_to)).status == 200
    told = changes(await visitor.get(f"/companies/1/sales-orders/{made.id}"))[0][3]
    before, _, after = told.partition(" → ")
    assert (before, "City Iași" in after, "Name Ana" in after) == ("Ship to: City Cluj", True, True)


async def test_of_many_lines_the_first_are_told(visitor: Visitor) -> None:
    body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}]}
    made = await visitor.world.send("POST", "/api/sales-orders", body)
    lines = [{"article_id": 1, "quantity": each / 1000, "warehouse_id": 1} for each in range(1, 100)]
    assert (await visitor.world.send("PATCH", f"/api/sales-orders/{made.id}", {"lines": lines})).status == 200
    told = changes(await visitor.get(f"/companies/1/sales-orders/{made.id}"))[0][3]
    assert "Quantity 0.005, Warehouse MAIN; " in told
    assert told.endswith("; …")


async def test_a_member_who_may_read_the_order_is_told_too(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("m@example.com", "member", ["ACME"], ["sales-orders:read"])
    await world.new_user("n@example.com", "member", ["ACME"], ["stock:read"])
    member, other = Visitor(world), Visitor(world)
    await member.sign_in("m@example.com", PASSWORD)
    await other.sign_in("n@example.com", PASSWORD)
    assert len(changes(await member.get(PATH))) == 3
    assert "Partner: 1 → 2" in changes(await member.get(PATH))[1][3]
    assert (await other.get(PATH)).status == 403


def _forget(tx: Transaction, what: str) -> None:
    tx.execute("DELETE FROM document_changes WHERE what = ?", (what,))


async def test_what_was_done_before_it_was_kept_is_said(visitor: Visitor) -> None:
    database = await visitor.world.database()
    for what, told in (("created", 2), ("moved", 1), ("changed", 0)):
        await database.write(partial(_forget, what=what))
        seen = await visitor.get(PATH)
        assert "Earlier changes are not recorded." in seen.text
        assert seen.text.count(f">{BY}</td>") == told


async def test_that_only_the_last_ones_are_told_is_said(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "Older changes are not listed, except the creation."
    assert told not in (await visitor.get(PATH)).text
    monkeypatch.setattr("wmsd.warehouse.documents.change_history.LONGEST_ANSWER", 300)
    seen = await visitor.get(PATH)
    assert [row[1] for row in changes(seen)] == ["status changed", "created"]
    assert told in seen.text


async def test_in_romanian(visitor: Visitor) -> None:
    seen = await visitor.get(PATH, {"Accept-Language": "ro"})
    assert [row[1] for row in changes(seen)] == ["status schimbat", "modificat", "creat"]
    assert ">Istoric</h2>" in seen.text
