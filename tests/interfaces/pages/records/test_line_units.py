"""The lines of a document's page display the unit of each quantity, and the number of boxes."""

import re

from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen
from tests.support.shop import Shop

PLACE = {"partner_id": 1, "warehouse_id": 1}
READS = [f"{each}:read" for each in ("articles", "sales-orders", "purchase-orders", "receptions")]


async def boxed(shop: Shop, **fields: object) -> None:
    change = {"unit_3pl": "box", "um3pl_factor": 12, **fields}
    assert (await shop.world.send("PATCH", "/api/articles/1", change)).status == 200


def figures(seen: Seen) -> list[str]:
    """Return the numeric cells of the first table."""
    (table,) = re.findall(r"<tbody>(.*?)</tbody>", seen.text, re.DOTALL)[:1]
    return [text_of(each) for each in re.findall(r'<td class="num".*?>(.*?)</td>', table, re.DOTALL)]


async def test_a_quantity_has_its_unit_and_what_it_is_in_boxes(shop: Shop) -> None:
    await boxed(shop)
    lines = [{"article_id": 1, "quantity": quantity} for quantity in (12, 6, 1)]
    await shop.order(*lines, {"article_id": 2, "quantity": 1.5})
    office = await signed_in(shop.world, "ACME", abilities=READS)
    assert figures(await office.get("/companies/1/sales-orders/1")) == [
        "12 pcs 1 box of 12",
        "6 pcs 0.5 box of 12",
        "1 pcs box of 12",
        "1.5 pcs",
    ]


async def test_what_was_received_is_in_boxes_and_in_units(shop: Shop) -> None:
    await boxed(shop)
    items = [{"article_code": "A", "quantity": 48}]
    bought = await shop.world.send("POST", "/api/purchase-orders", {**PLACE, "items": items})
    selected = [{"po_item_id": bought.body["items"][0]["id"], "quantity_um3pl": 2}]
    body = {"purchase_order_id": 1, "warehouse_id": 1, "selected_items": selected, "status": "FINALIZAT"}
    assert (await shop.world.send("POST", "/api/receptions", body)).status == 201
    office = await signed_in(shop.world, "ACME", abilities=READS)
    assert figures(await office.get("/companies/1/receptions/1")) == ["2 box of 12 pcs", "24 pcs 2 box of 12"]
    assert figures(await office.get("/companies/1/purchase-orders/1")) == [
        "48 pcs 4 box of 12",
        "24 pcs 2 box of 12",
    ]


async def test_who_may_not_read_the_article_sees_the_number(shop: Shop) -> None:
    await boxed(shop)
    await shop.order()
    member = await signed_in(shop.world, "ACME", abilities=["sales-orders:read"])
    assert figures(await member.get("/companies/1/sales-orders/1")) == ["3"]


async def test_units_stay_text(shop: Shop) -> None:
    await boxed(shop, unit="<b>pcs", unit_3pl="<i>box")
    await shop.order()
    office = await signed_in(shop.world, "ACME", abilities=READS)
    seen = await office.get("/companies/1/sales-orders/1")
    assert figures(seen)[0] == "3 <b>pcs 0.25 <i>box of 12"
    assert "<b>pcs" not in seen.text
